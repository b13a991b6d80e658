package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksmith/backends"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// module is the module whose version is told.
const module = "locksmith"

func (a *app) version() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: "Print the version: that of git's tag, or the time and the commit that it was made of.\n" +
			"With --json also which kinds of locks this program has, the versions of what it leaves\n" +
			"on disk, and the flags of hold.",
		Example: "  locksmith version\n  locksmith version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.out.JSON(a.abilities())
			}
			fmt.Fprintln(&a.out, version())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// version is all that is known of this program.
func version() string {
	return fmt.Sprintf("locksmith %s protocol %d %s %s/%s", madeAs(), protocol.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func madeAs() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return versionIn(info)
	}
	return "unknown"
}

// abilities are what version tells in JSON. Later versions may add to it.
type abilities struct {
	Version  string            `json:"version"`
	Protocol int               `json:"protocol"`
	Go       string            `json:"go"`
	OS       string            `json:"os"`
	Arch     string            `json:"arch"`
	Kinds    []kindOf          `json:"kinds"`
	Formats  map[string]string `json:"formats"` // of files, by name
	Hold     []string          `json:"hold"`    // its flags
}

type kindOf struct {
	Name   string `json:"name"`
	Layout int    `json:"layout"`
}

func (a *app) abilities() abilities {
	about := abilities{Version: madeAs(), Protocol: protocol.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Formats: map[string]string{"records": owner.RecordVersion, "notes": owner.NoteVersion}}
	for _, s := range a.self.Kinds.Schemes() {
		about.Kinds = append(about.Kinds, kindOf{s.Name, backends.Layout})
	}
	a.hold().Flags().VisitAll(func(f *pflag.Flag) { about.Hold = append(about.Hold, "--"+f.Name) })
	return about
}

// versionIn is the version of this module in a program. The program may be another that is its
// own helper.
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
	return "(devel)" // Go's word for an unknown version
}
