package flags

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Titles of flags that help shows after the others.
const (
	ForPrograms = "Flags for programs:"
	Rarely      = "Flags that are rarely needed:"
)

// Group puts flags of a command under a title. names have spaces between them. They are looked up by
// help alone, because other runs of the command have no use for them.
func Group(c *cobra.Command, title, names string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[title] = names
}

// ShowGroups makes the usage of all commands show flags under their titles.
func ShowGroups(root *cobra.Command) {
	usual := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		titles := []string{ForPrograms, Rarely}
		var groups []*pflag.FlagSet
		for _, title := range titles {
			g := &pflag.FlagSet{SortFlags: true}
			for name := range strings.FieldsSeq(c.Annotations[title]) {
				g.AddFlag(c.Flags().Lookup(name))
			}
			groups = append(groups, g)
		}
		hide(groups, true)
		err := usual(c)
		hide(groups, false)
		for i, g := range groups {
			if g.HasFlags() {
				fmt.Fprintf(c.OutOrStderr(), "\n%s\n%s", titles[i], g.FlagUsages())
			}
		}
		return err
	})
}

func hide(groups []*pflag.FlagSet, hidden bool) {
	for _, g := range groups {
		g.VisitAll(func(f *pflag.Flag) { f.Hidden = hidden })
	}
}
