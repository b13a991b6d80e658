//go:build linux

package nfslab

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/guest"
	"locksmith/test/lab"
)

const (
	mount  = "/mnt/nfs"    // on every host
	export = "/mnt/export" // the truth, on the server, where the scenarios run
	// The first few hosts are for all; the others have their links cut and are stopped.
	crowdHosts = 3
	hosts      = 8
	cutHost    = 8 // by trouble
)

// must runs a command, which must succeed.
func must(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	status, said := lab.Run(t, cmd)
	if status != 0 {
		t.Fatalf("%q: exit status %d\n%s", cmd.Args, status, said)
	}
	return said
}

// do runs a command of the lab, which must succeed.
func do(t *testing.T, argv ...string) string {
	t.Helper()
	return must(t, exec.Command(argv[0], argv[1:]...))
}

// script runs a shell script on host k, which must succeed.
func script(t *testing.T, k int, text string) string {
	t.Helper()
	return must(t, guest.On(k, "sh", "-euc", text))
}

func mustWork(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// place makes a directory for a test and returns the name of a lock in it, as
// the hosts see it.
func place(t *testing.T) string {
	t.Helper()
	dir := strings.NewReplacer("/", "-", ":", "").Replace(strings.TrimPrefix(t.Name(), "TestGuest/"))
	mustWork(t, os.Mkdir(filepath.Join(export, dir), 0o777))
	return filepath.Join(mount, dir, "L")
}

// onServer returns where the server has a file of the hosts'.
func onServer(path string) string { return export + strings.TrimPrefix(path, mount) }

// address is a lock's: an nfs: lock has none but its path.
func address(lock string) string {
	if strings.Contains(lock, ":") {
		return lock
	}
	return "nfs:" + lock
}

// tree lists everything at a lock, as the server has it.
func tree(lock string) (all []string) {
	_ = filepath.WalkDir(onServer(lock), func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			all = append(all, strings.TrimPrefix(path, onServer(lock)))
		}
		return nil
	})
	return all
}

// reservations returns the reservations at the server, in the order of the queue: those of
// holders and of waiters, dead ones included.
func reservations(lock string) []string {
	all, _ := filepath.Glob(onServer(lock) + "/R/x.*")
	return all
}

// queued waits until n acquisitions have an exclusive reservation.
func queued(t *testing.T, lock string, n int) {
	t.Helper()
	lab.Eventually(t, fmt.Sprintf("%d in the queue of %s", n, lock), func() bool { return len(reservations(lock)) == n },
		func() string { return state(lock) })
}

// state tells all about a lock, and of who has to do with it.
func state(lock string) string {
	out, _ := exec.Command("sh", "-c", `ls -lR --full-time "$0"; busybox ps -o pid,ppid,stat,args | grep -F "$1"`, onServer(lock), lock).CombinedOutput()
	return string(out)
}

// keeps is how many generations may stay in a lock that nobody uses.
const keeps = 4

// settle has one more holder clear what dead ones left, for which it needs to watch them for
// as long as they asked for, and makes sure that a lock that nobody uses has nothing left in it
// but its newest generations.
func settle(t *testing.T, lock string) {
	t.Helper()
	last := hold(t, 1, lock, "--refresh", "1s")
	last.Held()
	lab.Eventually(t, "no dead ones in "+lock, func() bool {
		left, err := os.ReadDir(onServer(lock) + "/R")
		return err == nil && len(left) == 2 // a reservation and its record
	}, func() string { return state(lock) })
	last.Release()
	atRest(t, lock)
}

// atRest is settle where nobody died. It may take a client a moment to remove an open file
// after its last reader has gone.
func atRest(t *testing.T, lock string) {
	t.Helper()
	lab.Eventually(t, "nothing left in "+lock, func() bool {
		generations, _ := filepath.Glob(onServer(lock) + "/G/lock.*")
		return len(generations) > 0 && len(tree(lock)) == 3+len(generations) && len(generations) <= keeps // L, G and R
	}, func() string { return state(lock) })
}

// A status is what locksmith status --json says of one lock.
type status struct {
	State   string
	Token   uint64
	Holders []struct{ ID, Host, Mode string }
	Waiters []struct{ ID, Host, Mode string }
}

// look asks host k for the status of a lock.
func look(t *testing.T, k int, lock string) status {
	t.Helper()
	var all struct{ Locks []status }
	out := must(t, guest.On(k, "locksmith", "status", "--json", address(lock)))
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all.Locks) != 1 {
		t.Fatalf("status on host %d: %v\n%s", k, err, out)
	}
	return all.Locks[0]
}

// heldBy reports that host k sees the lock held by exactly one acquisition; "": by none.
func heldBy(t *testing.T, k int, lock, id string) {
	t.Helper()
	s := look(t, k, lock)
	free := id == "" && s.State == "free" && len(s.Holders) == 0
	if !free && (s.State != "held" || len(s.Holders) != 1 || s.Holders[0].ID != id) {
		t.Errorf("status on host %d: %+v, want it held by %q", k, s, id)
	}
}

// A holder is one locksmith hold on a host, with a parent there.
type holder struct {
	*lab.Helper
	began time.Time
}

// hold starts a helper on host k. It has a shell for its parent: one outside of
// the host's pid namespace would be none. The shell's stdin is ours and the
// helper's, so the helper must be told that it is meant.
func hold(t lab.T, k int, lock string, flags ...string) *holder {
	t.Helper()
	return spawn(t, k, `locksmith hold --stdin watch "$@"; exit $?`, append(flags, address(lock))...)
}

// spawn starts a helper by a shell script, with arguments.
func spawn(t lab.T, k int, text string, args ...string) *holder {
	t.Helper()
	h := &holder{began: time.Now()}
	h.Helper = lab.Hold(t, guest.On(k, append([]string{"sh", "-c", text, "parent"}, args...)...))
	t.Cleanup(func() { h.kill(both) })
	return h
}

// refused expects hold on host k to find the lock held.
func refused(t *testing.T, k int, lock string, flags ...string) {
	t.Helper()
	hold(t, k, lock, append(flags, "--timeout", "0")...).Exits(75)
}

// silent makes sure that it has said nothing.
func (h *holder) silent() { h.Silent(10 * time.Millisecond) }

// id waits until it holds the lock and returns the name of that acquisition.
func (h *holder) id() string { return h.Held().Value("id") }

type whom int

const (
	both whom = iota
	parentOnly
	helperOnly
)

// kill ends with -9 what has started of it, and reports whether that was any. The helper
// goes first: it would notice that the parent has gone.
func (h *holder) kill(who whom) (any bool) {
	for _, parent := range guest.Children(h.PID()) {
		for _, helper := range guest.Children(parent) {
			if who != parentOnly {
				any = unix.Kill(helper, unix.SIGKILL) == nil || any
			}
		}
		if who != helperOnly {
			any = unix.Kill(parent, unix.SIGKILL) == nil || any
		}
	}
	return any
}
