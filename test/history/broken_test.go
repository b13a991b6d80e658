//go:build unix

package history

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/test/lab"
	"locksmith/test/lab/holds"
)

const (
	roleBroken   = "broken"
	flawVariable = "LOCKSMITH_TEST_FLAW" // what is wrong with the lock
	fileVariable = "LOCKSMITH_TEST_FILE" // the lock's file
)

// The flaws of a broken lock.
const (
	flawNone       = "none"
	flawTwoHolders = twoHolders
	flawTokens     = "repeated tokens"
	flawSilence    = "a loss that nobody is told of"
)

// TestBroken: both judges find what is wrong with a lock, and find nothing if nothing is wrong.
func TestBroken(t *testing.T) {
	lab.NotShort(t, "it builds programs")
	t.Parallel()
	for flaw, want := range map[string]string{
		flawNone: "", flawTwoHolders: twoHolders, flawTokens: "does not rise", flawSilence: twoHolders,
	} {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			l := contendBroken(t, flaw)
			faults := holds.Faults(l.holds(false), true)
			t.Logf("%d sections, %d faults", len(l.sections), len(faults))
			if flaw == flawNone {
				if len(faults) > 0 {
					t.Errorf("without a flaw the history has the faults %q", faults)
				}
				return
			}
			for _, text := range []string{want, "no order"} {
				if !slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(fault, text) }) {
					t.Errorf("no fault has %q: %q", text, faults)
				}
			}
		})
	}
}

// contendBroken lets three parents take a broken lock a few times, and kills nobody.
func contendBroken(t *testing.T, flaw string) *lock {
	t.Helper()
	r := newRecorder(t, 1, 0)
	r.calm = true
	c := &cell{kind: kind{wishes: alone(3)}, name: flaw, tally: &tally{}, locks: []*lock{{profile: "broken", address: "broken:" + flaw}}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.env = append(os.Environ(), "LOCKSMITH="+self, "GORACE=atexit_sleep_ms=0", lab.RoleVariable+"="+roleBroken,
		flawVariable+"="+flaw, fileVariable+"="+filepath.Join(t.TempDir(), "lock"))
	crowd := start(t, r, []*cell{c}, lab.Program(t, "test/history/parent"))
	r.eventually(t, "thirty sections", func() bool { return len(c.locks[0].sections) >= 30 })
	crowd.finish()
	return c.locks[0]
}

// brokenHelper is a helper of a lock with a flaw.
func brokenHelper() int {
	flaw := os.Getenv(flawVariable)
	f, err := os.OpenFile(os.Getenv(fileVariable), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil && flaw != flawTwoHolders {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	token := clock.Boot{}.Now()
	if flaw == flawTokens {
		token = 1
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("OK proto=1 id=%d-%d token=%d mode=exclusive waited_ms=0 lease_ms=60000 lock=%s\n", os.Getpid(), time.Now().UnixNano(), token, os.Args[len(os.Args)-1])
	if flaw == flawSilence {
		time.Sleep(time.Millisecond)
		f.Close()
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent lets go
	fmt.Println("RELEASED held_ms=1")
	return 0
}
