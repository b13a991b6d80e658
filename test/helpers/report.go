//go:build unix

// Package helpers finds where a helper, or a parent, in any language, breaks what the pages of
// protocol say.
// The program cmd/locksmith-check has its commands:
//
//	locksmith-check helper LOCK HELPER [ARGUMENT…]
//	locksmith-check parent COMMAND [ARGUMENT…]
//
// The first starts HELPER with its ARGUMENTs, and the protocol's after them, as parents do and
// as they fail. LOCK is an address for the helper, which nobody else uses.
//
// The second starts COMMAND, a parent, with its ARGUMENTs and the address of a lock after them,
// and has it start a helper that does wrong. That helper is this program: it is locksmith on the
// PATH, and in $LOCKSMITH. COMMAND takes the lock, says "working" on a line of its own, lets go,
// and exits: with 0 if it had the lock until then, else with another status.
//
// Both print a line for each thing they look at: ok; broken, with what was seen and the sentence
// of the page; note, of what does harm only beside a helper that breaks a rule; or not checked, with
// the reason. They exit with 1 if anything is broken.
//
// Caveats. The program waits only shortly (-grace) for what must not happen, and long (-within)
// for what must. So it calls a slow helper broken, and misses a fault that comes later.
package helpers

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

const usage = `usage: locksmith-check helper [flags] LOCK HELPER [ARGUMENT…]
       locksmith-check parent [flags] COMMAND [ARGUMENT…]

The first checks a helper, with the address of a lock that nobody else uses. The second
checks a parent: COMMAND is given the address of a lock as its last argument, takes that lock
by "locksmith hold", says "working" on a line of its own, lets go, and exits, with 0 if and
only if it had the lock until then. Both exit with 1 if anything is broken.
`

// Main is the program. It returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	if part, is := os.LookupEnv(partVariable); is {
		return play(part, args)
	}
	if len(args) < 2 {
		fmt.Fprint(stderr, usage)
		return 64
	}
	var h helper
	flags := flag.NewFlagSet("locksmith-check "+args[1], flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage, "\n"); flags.PrintDefaults() }
	flags.DurationVar(&h.within, "within", 20*time.Second, "how long anything may take")
	flags.DurationVar(&h.grace, "grace", 300*time.Millisecond, "how long to look for what must not happen")
	var least int
	switch args[1] {
	case "helper":
		flags.DurationVar(&h.soon, "soon", time.Second, "how long a helper may take from a hang-up until its lock is removed: a second, and what its place needs")
		flags.BoolVar(&h.kept, "kept", false, "nobody takes the lock of a helper that lives, however long it is stopped (rule 7)")
		least = 2
	case "parent":
		least = 1
	}
	if err := flags.Parse(args[2:]); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || least == 0 || flags.NArg() < least {
		flags.Usage()
		return 64
	}
	var broken int
	if args[1] == "parent" {
		broken = report(stdout, parts, parent{command: flags.Args(), within: h.within, grace: h.grace}.try)
	} else {
		h.lock, h.command = flags.Arg(0), flags.Args()[1:]
		broken = report(stdout, checks, h.try)
	}
	if broken > 0 {
		return 1
	}
	return 0
}

// report tries all, writes a line for each, and returns how many are broken.
func report[C interface{ told() (name, rule string) }](w io.Writer, all []C, try func(C) outcome) (broken int) {
	for _, c := range all {
		name, rule := c.told()
		switch o := try(c); o.word {
		case "ok":
			fmt.Fprintf(w, "ok           %s\n", name)
		case "broken":
			broken++
			fmt.Fprintf(w, "broken       %s: %s\n             the page: %s\n", name, o.seen, rule)
		case "note":
			fmt.Fprintf(w, "note         %s: %s\n             the page: %s\n", name, o.seen, rule)
		default:
			fmt.Fprintf(w, "not checked  %s: %s\n", name, o.seen)
		}
	}
	return broken
}
