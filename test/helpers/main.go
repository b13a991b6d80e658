//go:build unix

// Command helpers says where a helper, in whatever language, breaks protocol/README.md:
//
//	go run ./test/helpers LOCK HELPER [ARGUMENT…]
//
// It starts HELPER with its ARGUMENTs, and the protocol's after them, as parents do and as
// they fail, and prints a line for each thing it looks at: ok; broken, with what was seen
// and the sentence of the page; or not checked, with the reason. It exits with 1 if
// anything is broken. LOCK is an address for the helper, which nobody else uses.
//
// Caveats. Something that must not happen is waited for shortly (-grace), what must for
// long (-within): a helper that is too slow is called broken, one that errs later is not.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	h := helper{}
	flag.DurationVar(&h.within, "within", 20*time.Second, "how long a helper may take for anything")
	flag.DurationVar(&h.grace, "grace", 300*time.Millisecond, "how long to look for what must not happen")
	flag.BoolVar(&h.kept, "kept", false, "nobody takes the lock of a helper that lives, however long it is stopped (rule 7)")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: helpers [-within 20s] [-grace 300ms] [-kept] LOCK HELPER [ARGUMENT…]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(64)
	}
	h.lock, h.command = flag.Arg(0), flag.Args()[1:]
	if report(os.Stdout, h, checks) > 0 {
		os.Exit(1)
	}
}

// report checks a helper and writes a line for each check. It returns how many are broken.
func report(w io.Writer, h helper, checks []check) (broken int) {
	for _, c := range checks {
		switch o := h.try(c); o.word {
		case "ok":
			fmt.Fprintf(w, "ok           %s\n", c.name)
		case "broken":
			broken++
			fmt.Fprintf(w, "broken       %s: %s\n             the page: %s\n", c.name, o.seen, c.rule)
		default:
			fmt.Fprintf(w, "not checked  %s: %s\n", c.name, o.seen)
		}
	}
	return broken
}
