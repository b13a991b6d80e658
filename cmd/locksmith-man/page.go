package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksmith/cmd/locksmith/cli"
)

// page returns the page of a command. That of the program names the pages of the guide.
func page(c *cobra.Command, guide []string, date string) []byte {
	c.InitDefaultHelpFlag()
	var r roff
	r.title(name(c), "1", date)
	r.section("NAME")
	r.text(name(c) + " - " + c.Short)
	r.section("SYNOPSIS")
	r.macro("B", c.CommandPath())
	r.text(arguments(c))
	r.section("DESCRIPTION")
	r.paragraphs(description(c))
	commands(&r, c)
	r.section("OPTIONS")
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			option(&r, f)
		}
	})
	if c.Example != "" {
		r.section("EXAMPLES")
		r.verbatim(strings.Split(c.Example, "\n"))
	}
	for _, s := range cli.Reference(c) {
		r.section(strings.ToUpper(s.Title))
		for _, e := range s.Entries {
			r.item(bold(e.Term), e.Text)
		}
	}
	r.section("SEE ALSO")
	see := related(c)
	if !c.HasParent() {
		for _, file := range guide {
			see = append(see, guidePage(file)+"(7)")
		}
	}
	r.text(strings.Join(see, ", "))
	return r.bytes()
}

// arguments are what follows a command on the command line.
func arguments(c *cobra.Command) string {
	if c.HasSubCommands() {
		return "COMMAND [flags]"
	}
	return strings.TrimPrefix(c.UseLine(), c.CommandPath())
}

func description(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return c.Short + "."
}

// commands lists the commands below a command, group by group.
func commands(r *roff, c *cobra.Command) {
	if !c.HasSubCommands() {
		return
	}
	r.section("COMMANDS")
	list := func(group string) {
		for _, sub := range c.Commands() {
			if sub.GroupID == group {
				r.item(bold(name(sub))+"(1)", sub.Short)
			}
		}
	}
	for _, g := range c.Groups() {
		r.subsection(strings.TrimSuffix(g.Title, ":"))
		list(g.ID)
	}
	list("")
}

// option describes a flag as its help does.
func option(r *roff, f *pflag.Flag) {
	argument, usage := pflag.UnquoteUsage(f)
	term := bold("--" + f.Name)
	if f.Shorthand != "" {
		term = bold("-"+f.Shorthand) + ", " + term
	}
	if argument != "" {
		term += " " + italic(argument)
	}
	if !slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) {
		usage += " (default " + f.DefValue + ")"
	}
	r.item(term, usage)
}

// related returns the pages of the commands above a command, beside it and below it.
func related(c *cobra.Command) (pages []string) {
	if parent := c.Parent(); parent != nil {
		pages = append(pages, name(parent)+"(1)")
		for _, other := range parent.Commands() {
			if other != c && other.GroupID == c.GroupID && !other.Hidden {
				pages = append(pages, name(other)+"(1)")
			}
		}
	}
	for _, sub := range c.Commands() {
		pages = append(pages, name(sub)+"(1)")
	}
	return pages
}
