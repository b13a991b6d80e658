package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/protocol"
)

// TestEveryCommandExplainsItself: each command has an example, and a place among the others.
func TestEveryCommandExplainsItself(t *testing.T) {
	n := 0
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if n++; c.Example == "" || c.Short == "" {
			t.Errorf("%s has no example, or says nothing", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			if !c.HasParent() && sub.GroupID == "" {
				t.Errorf("%s is in no group", sub.CommandPath())
			}
			check(sub)
		}
	}
	if check(Commands()); n < 16 {
		t.Errorf("there are only %d commands", n)
	}
}

// TestDefaults: help shows no flag with two defaults, and no value as a default that is none.
func TestDefaults(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for line := range strings.Lines(c.LocalFlags().FlagUsages()) {
			if strings.Count(line, "(default") > 1 || strings.Contains(line, "(default 0") {
				t.Errorf("help of %s shows a wrong default: %s", c.CommandPath(), line)
			}
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(Commands())
}

// TestHelpOfFlags: help shows each flag once, those for programs and those that are rarely needed
// apart, and shows the same when it is asked again.
func TestHelpOfFlags(t *testing.T) {
	hold, _, err := Commands().Find([]string{"hold"})
	if err != nil {
		t.Fatal(err)
	}
	hold.InitDefaultHelpFlag()
	text := hold.UsageString()
	if again := hold.UsageString(); again != text {
		t.Errorf("asked again, help differs:\n%s", again)
	}
	usual, rest, programs := strings.Cut(text, "\n"+flags.ForPrograms+"\n")
	forPrograms, rare, rarely := strings.Cut(rest, "\n"+flags.Rarely+"\n")
	if !programs || !rarely {
		t.Fatalf("no groups:\n%s", text)
	}
	for part, name := range map[string]string{usual: "timeout", forPrograms: "stdin", rare: "respite"} {
		if !strings.Contains(part, "--"+name+" ") {
			t.Errorf("--%s is not in its part of:\n%s", name, text)
		}
	}
	hold.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if n := strings.Count(text, "--"+f.Name+" "); n == 0 || strings.Count(text, "\n      --"+f.Name+" ") > 1 {
			t.Errorf("--%s is shown %d times", f.Name, n)
		}
	})
}

// TestNames: a command is found by the name that it gives itself, and then alone.
func TestNames(t *testing.T) {
	a := &app{}
	for _, g := range a.groups() {
		for _, c := range g.commands {
			alone := a.rootFor([]string{c.name}).Commands()
			if len(alone) != 1 || alone[0].Name() != c.name {
				t.Errorf("the name %s makes %d commands, the first %q, want it alone", c.name, len(alone), alone[0].Name())
			}
		}
	}
	if all := a.rootFor([]string{"help", "run"}).Commands(); len(all) < 12 {
		t.Errorf("help knows only %d commands", len(all))
	}
}

// TestMeanings: each exit status that a code has is explained once.
func TestMeanings(t *testing.T) {
	seen := map[int]int{}
	for _, m := range meanings() {
		seen[m.code.Exit()]++
	}
	for _, code := range []protocol.Code{protocol.Usage, protocol.Unreachable, protocol.Internal, protocol.CannotCreate, protocol.Held,
		protocol.Timeout, protocol.Cancelled, protocol.Permission, protocol.Config, protocol.Gone, protocol.Expired, protocol.Unreleased} {
		if seen[code.Exit()] != 1 {
			t.Errorf("status %d is explained %d times", code.Exit(), seen[code.Exit()])
		}
	}
}
