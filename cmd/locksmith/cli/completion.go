package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// scripts are where shells look for completions.
var scripts = map[string]string{
	"bash":       "> ~/.local/share/bash-completion/completions/locksmith",
	"zsh":        `> "${fpath[1]}/_locksmith"`,
	"fish":       "> ~/.config/fish/completions/locksmith.fish",
	"powershell": "| Out-String | Invoke-Expression",
}

// adjustCompletion has cobra's own command say how it is used, and complain of an unknown shell.
func adjustCompletion(c *cobra.Command) {
	c.Example = "  locksmith completion bash " + scripts["bash"]
	for _, shell := range c.Commands() {
		shell.Example = "  locksmith completion " + shell.Name() + " " + scripts[shell.Name()]
	}
	c.DisableFlagsInUseLine = true
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
}

// fixed are the flags with a fixed set of values.
var fixed = map[string][]cobra.Completion{
	"log-level":  {"trace", "debug", "info", "warn", "error", "off"},
	"log-format": {"text", "json"},
	"mode":       {"shared", "exclusive"},
	"format":     {"text", "json", "openmetrics"},
	"stdin":      {"auto\tfind out whose it is", "watch\tits end releases the lock", "ignore\tit is none of our business"},
}

// filed are the flags whose values are files.
var filed = []string{"for", "ca", "events", "output"}

// completes reports whether a shell asks for completions.
func (a *app) completes() bool {
	return len(a.self.Args) > 0 && (a.self.Args[0] == cobra.ShellCompRequestCmd || a.self.Args[0] == cobra.ShellCompNoDescRequestCmd)
}

// unquoteUsages removes the back-quotes by which help knows how to call a flag's value, because
// cobra shows them to shells.
func unquoteUsages(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	for _, sub := range c.Commands() {
		unquoteUsages(sub)
	}
}

// completeFlags makes flags offer values, or nothing if no file is meant.
func completeFlags(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(filed, f.Name) || f.Value.Type() == "bool" {
			return // shells offer files by themselves
		}
		// This fails for a flag that is not there, or that was here before.
		_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(fixed[f.Name], cobra.ShellCompDirectiveNoFileComp))
	})
	for _, sub := range c.Commands() {
		completeFlags(sub)
	}
}
