package singleproc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"locksmith/test/lab"
)

func TestMain(m *testing.M) { lab.Main(m, nil) }

// TestFirst: packages that are initialised earlier take hardly any memory. So little of it could
// be that of a second processor.
func TestFirst(t *testing.T) {
	cmd := exec.Command(lab.Program(t, "cmd/locksmith"), "version")
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), "GODEBUG=inittrace=1"), &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	const most = 1000
	before := 0 // bytes
	for line := range strings.Lines(stderr.String()) {
		var (
			name      string
			at, clock float64 // ms
			size      int     // bytes
		)
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes", &name, &at, &clock, &size); err != nil {
			t.Fatalf("the line %q is not one of GODEBUG=inittrace=1: %v", line, err)
		}
		if name == "locksmith/cmd/locksmith/singleproc" {
			if before > most {
				t.Errorf("%d bytes before, want at most %d:\n%s", before, most, &stderr)
			}
			return
		}
		before += size
	}
	t.Errorf("not initialised:\n%s", &stderr)
}
