package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksmith/backends"
	"locksmith/cmd/locksmith/profile"
)

// Shells ask us what a word may become; see locksmith completion.

const (
	noFiles  = cobra.ShellCompDirectiveNoFileComp
	goesOn   = noFiles | cobra.ShellCompDirectiveNoSpace // the word does
	anything = cobra.ShellCompDirectiveDefault           // files
)

// completeLock offers what a LOCK may begin with: names of profiles, kinds of locks,
// and after a kind of the file system what is there.
func completeLock(c *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if f := c.Flags().Lookup("for"); f != nil && f.Value.String() != "" {
		return beginnings(begun, func(kind string, inFiles bool) string {
			if inFiles {
				return kind + ":"
			}
			return ""
		}), noFiles
	}
	if kind, path, ok := strings.Cut(begun, ":"); ok {
		return completePath(kind, path), goesOn
	}
	kinds := beginnings(begun, func(kind string, inFiles bool) string {
		if inFiles {
			return kind + ":/"
		}
		return kind + "://"
	})
	directive := noFiles
	if len(kinds) > 0 {
		directive = goesOn
	}
	return append(profiles(begun), kinds...), directive
}

// completePlace is completeLock for a directory, which may also be given as a path.
func completePlace(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if isPath(begun) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return completeLock(c, args, begun)
}

// completeMember is completeLock for one that may have its mode before it.
func completeMember(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	mode, rest := cutMode(begun)
	if mode == "" {
		return completeLock(c, args, begun)
	}
	words, directive := completeLock(c, args, rest)
	for i := range words {
		words[i] = mode + ":" + words[i]
	}
	return words, directive
}

// beginnings are the kinds of locks, as spell writes them, that a word may become.
func beginnings(begun string, spell func(kind string, inFiles bool) string) (all []cobra.Completion) {
	for _, s := range backends.Schemes() {
		word := spell(s.Name, s.Port == "")
		if word != "" && strings.HasPrefix(word, begun) {
			all = append(all, cobra.CompletionWithDesc(word, s.About))
		}
	}
	return all
}

func profiles(begun string) (all []cobra.Completion) {
	for _, name := range profile.System().Names() {
		if strings.HasPrefix(name, begun) {
			all = append(all, cobra.CompletionWithDesc(name, "a profile"))
		}
	}
	return all
}

// completeRun leaves the command after "--" to the shell.
func (a *app) completeRun(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if slices.Contains(a.args[:len(a.args)-1], "--") {
		return nil, anything
	}
	return completeMember(c, args, begun)
}

// fixed are the flags of which all values are known.
var fixed = map[string][]cobra.Completion{
	"log-level":  {"trace", "debug", "info", "warn", "error", "off"},
	"log-format": {"text", "json"},
	"mode":       {"shared", "exclusive"},
	"stdin":      {"auto\tfind out whose it is", "watch\tits end releases the lock", "ignore\tit is none of our business"},
}

// filed are the flags whose values are files.
var filed = []string{"for", "ca", "events", "output"}

// completes reports whether a shell asks us.
func (a *app) completes() bool {
	return len(a.args) > 0 && (a.args[0] == cobra.ShellCompRequestCmd || a.args[0] == cobra.ShellCompNoDescRequestCmd)
}

// unquoteUsages takes out the back-quotes by which help knows how to call a flag's value:
// cobra shows them to shells.
func unquoteUsages(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	for _, sub := range c.Commands() {
		unquoteUsages(sub)
	}
}

// completeFlags makes flags offer values, or nothing where no file is meant.
func completeFlags(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(filed, f.Name) || f.Value.Type() == "bool" {
			return // files are what shells offer by themselves
		}
		// It fails for a flag that is not there, or that has been here before.
		_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(fixed[f.Name], noFiles))
	})
	for _, sub := range c.Commands() {
		completeFlags(sub)
	}
}
