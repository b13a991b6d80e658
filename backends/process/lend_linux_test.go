package process

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLendNearTheLimit: a descriptor is lent even if all numbers just below the limit are taken.
func TestLendNearTheLimit(t *testing.T) {
	const limit = 16
	if os.Getenv("LEND") == "" {
		cmd := exec.Command("/bin/sh", "-c", `ulimit -n 16; exec "$0" -test.run=^TestLendNearTheLimit$`, os.Args[0])
		cmd.Env = append(os.Environ(), "LEND=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("a program that lends its lifeline ends with %v, and says\n%s", err, out)
		}
		return
	}
	for n := limit - 3; n < limit; n++ {
		if err := unix.Dup3(0, n, unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Lend(0); err != nil {
		t.Error(err)
	}
}
