package interop

import (
	"flag"
	"os"
	"testing"
	"time"
)

var table = flag.Bool("table", false, "print README's table of what was seen")

const (
	// waitLimit bounds each wait for what should come at once, on a slow machine.
	waitLimit = 40 * time.Second
	// glance is how long we look for what must not happen.
	glance = 200 * time.Millisecond
)

// TestMain lets more tests run at a time than there are processors: most of them
// wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err) // the testing package has changed
	}
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, waitLimit)
		}
	}
}

func mustWork(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
