package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksmith/backends"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
)

// Commands returns the root of all commands, from which help and man pages are made.
func Commands() *cobra.Command {
	return (&app{self: request.Program{Kinds: backends.Usual()}, out: show.Output{To: os.Stdout}}).root()
}

// A group is commands that help shows together, by name.
type group struct {
	title    string
	commands []command
}

// A command is made when it is needed.
type command struct {
	name string
	make func() *cobra.Command
}

func (a *app) groups() []group {
	return []group{
		{"Holding locks:", []command{{"hold", a.hold}, {"run", a.run}, {"flock", a.flock}}},
		{"Looking at locks:", []command{{"status", a.statusCommand}, {"list", a.list}, {"check", a.check},
			{"doctor", a.doctor}, {"timeline", a.timeline}}},
		{"Mending locks:", []command{{"break", a.breakLock}, {"reap", a.reap}, {"remove", a.remove}}},
		{others, []command{{"version", a.version}}},
	}
}

// root is the root of all commands.
func (a *app) root() *cobra.Command {
	root := a.program()
	root.Flags().BoolP("version", "V", false, "print the version") // see spelled
	for _, g := range a.groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			made := c.make()
			made.GroupID = g.title
			root.AddCommand(made)
		}
	}
	addOwn(root)
	completeFlags(root)
	if a.completes() {
		unquoteUsages(root)
	}
	return root
}

// spelled returns a command line in which --version is the command of that name. cobra's own way
// to print a version would link a fifth more, which is read at each start.
func spelled(args []string) []string {
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-V") {
		return []string{"version"}
	}
	return args
}

// rootFor is root with no more than a command line needs. If the line begins with a command,
// root has only that: making all of them takes longer than taking a lock.
func (a *app) rootFor(args []string) *cobra.Command {
	for _, g := range a.groups() {
		for _, c := range g.commands {
			if len(args) > 0 && args[0] == c.name {
				root := a.program()
				root.CompletionOptions.DisableDefaultCmd = true
				root.AddCommand(c.make())
				return root
			}
		}
	}
	return a.root()
}

// whichOfThree begins the help of the commands that mend locks.
const whichOfThree = "break takes one lock from one who holds it or waits for it. reap removes by age what was\n" +
	"left in a directory of locks (mkdir:, ftp:). remove is for a free lock that nobody will use\n" +
	"again.\n\n"

// others is the group of commands that have nothing to do with locks.
const others = "Other commands:"

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
			c.RunE = help
		case "completion":
			adjustCompletion(c)
		}
	}
}

// help is cobra's own, except that it fails if it does not know what it is asked for.
func help(c *cobra.Command, args []string) error {
	asked, rest, err := c.Root().Find(args)
	switch {
	case err != nil:
		return unknownCommand(asked, args[0])
	case asked.HasSubCommands() && len(rest) > 0:
		return unknownCommand(asked, rest[0])
	}
	asked.InitDefaultHelpFlag() // so that help tells of it
	return asked.Help()
}

func unknownCommand(c *cobra.Command, name string) error {
	c.SuggestionsMinimumDistance = 2
	near := c.SuggestionsFor(name)
	if len(near) == 0 {
		return flags.Usagef("unknown command %q for %q", name, c.CommandPath())
	}
	return flags.Usagef("unknown command %q for %q; did you mean %s?", name, c.CommandPath(), strings.Join(near, " or "))
}

// firstWord is the first argument that is neither a flag nor the value of a flag that some
// command has; else the first that is no flag.
func firstWord(root *cobra.Command, args []string) string {
	words := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || !takesValue(root, args[i-1])) {
			return arg
		}
	}
	return words[0]
}

// takesValue reports whether an argument is a flag whose value is the next argument.
func takesValue(root *cobra.Command, arg string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool {
		var f *pflag.Flag
		if name, long := strings.CutPrefix(arg, "--"); long {
			f = c.Flags().Lookup(name)
		} else if len(arg) == 2 && arg[0] == '-' {
			f = c.Flags().ShorthandLookup(arg[1:])
		}
		return f != nil && f.NoOptDefVal == ""
	})
}

// catchOutput has cobra's own commands print where ours do. It does so only for them, or cobra
// would print complaints there, too.
func (a *app) catchOutput(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		c.SetOut(&a.out)
		help(c, args)
	})
	if len(a.self.Args) > 0 && a.self.Args[0] == "completion" || a.completes() {
		root.SetOut(&a.out)
	}
}
