package cli

import "github.com/spf13/cobra"

// Commands returns the root of all commands, from which help and man pages are made.
func Commands() *cobra.Command { return (&app{}).root() }

// others is the group of commands that have nothing to do with locks.
const others = "Other commands:"

// add puts commands into a group, which help shows under its title.
func add(root *cobra.Command, group string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: group, Title: group})
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}

// scripts are where shells look for completions.
var scripts = map[string]string{
	"bash":       "> ~/.local/share/bash-completion/completions/locksmith",
	"zsh":        `> "${fpath[1]}/_locksmith"`,
	"fish":       "> ~/.config/fish/completions/locksmith.fish",
	"powershell": "| Out-String | Invoke-Expression",
}

// addOwn adds cobra's own commands, with examples.
func addOwn(root *cobra.Command) {
	root.SetHelpCommandGroupID(others)
	root.SetCompletionCommandGroupID(others)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = "  locksmith help run"
		case "completion":
			c.Example = "  locksmith completion bash " + scripts["bash"]
			for _, shell := range c.Commands() {
				shell.Example = "  locksmith completion " + shell.Name() + " " + scripts[shell.Name()]
			}
		}
	}
}
