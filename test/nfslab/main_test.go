//go:build linux

package nfslab

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// scenarios chooses what runs in the chosen cells, wherever it runs otherwise.
var chosen = flag.String("scenarios", "", "run the scenarios that match this `regexp`, and of them the subtests after a slash, in every cell that runs")

// TestMain is also the beginning of the programs that the guest runs on hosts:
// this one, with a role for its first argument.
func TestMain(m *testing.M) {
	roles := map[string]func([]string) error{"contend": contend, "poke": poke}
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, os.Args[1]+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if inGuest() {
		// What runs side by side there waits most of the time.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err) // the testing package has changed
		}
	}
	os.Exit(m.Run())
}

// inGuest tells the two halves of this package apart.
func inGuest() bool { return os.Getenv("NFSLAB") != "" }
