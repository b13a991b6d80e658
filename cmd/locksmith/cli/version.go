package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"locksmith/protocol"
)

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  locksmith version",
		Args:    cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			version := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
			}
			fmt.Printf("locksmith %s protocol %d %s %s/%s\n", version, protocol.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
