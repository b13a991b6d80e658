package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"locksmith/protocol"
)

// module is what versions are of.
const module = "locksmith"

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  locksmith version",
		Args:    cobra.NoArgs,
		Run:     func(*cobra.Command, []string) { fmt.Fprintln(&a.out, version()) },
	}
}

// version is all that is known of this program.
func version() string {
	number := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		number = versionIn(info)
	}
	return fmt.Sprintf("locksmith %s protocol %d %s %s/%s", number, protocol.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionIn is the version of this module in a program, which may be another's that is
// its own helper.
func versionIn(info *debug.BuildInfo) string {
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != module {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "" {
			return m.Version
		}
	}
	return "(devel)" // as Go says when it does not know
}
