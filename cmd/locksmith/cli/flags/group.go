package flags

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Titles of flags that help shows after the others.
const (
	ForPrograms = "Flags for programs:"
	Rarely      = "Flags that are rarely needed:"
)

// titles are in the order of help.
var titles = [...]string{ForPrograms, Rarely}

// titled is the annotation of a flag with its title.
const titled = "title"

// Group puts flags under a title.
func Group(f *pflag.FlagSet, title string, names ...string) {
	for _, name := range names {
		f.Lookup(name).Annotations = map[string][]string{titled: {title}}
	}
}

// ShowGroups makes the usage of all commands show flags under their titles.
func ShowGroups(root *cobra.Command) {
	usual := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		var groups [len(titles)]pflag.FlagSet
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			for i := range titles {
				if slices.Contains(f.Annotations[titled], titles[i]) && !f.Hidden {
					groups[i].AddFlag(f)
				}
			}
		})
		hide(groups[:], true)
		err := usual(c)
		hide(groups[:], false)
		for i, title := range titles {
			if groups[i].HasFlags() {
				fmt.Fprintf(c.OutOrStderr(), "\n%s\n%s", title, groups[i].FlagUsages())
			}
		}
		return err
	})
}

func hide(groups []pflag.FlagSet, hidden bool) {
	for i := range groups {
		groups[i].VisitAll(func(f *pflag.Flag) { f.Hidden = hidden })
	}
}
