//go:build linux

package nfslab

import (
	"fmt"
	"testing"
)

// stare fills a host's caches with all names of a lock, also of those that are
// not there yet: an NFS client believes for half a minute that they are not.
const stare = `
	for n in $(seq %d %d); do
		readlink %[3]s/G/lock.$n || :
		stat %[3]s/G/lock.$n || :
	done
	find %[3]s -ls || :
	ls -lR %[3]s || :
	stat %[3]s %[3]s/G %[3]s/R || :
`

// stale: a host whose caches are full of what was, and of what was not, takes no
// lock that another has, does get a free one, and shows what is.
func stale(t *testing.T) {
	lock := place(t)
	view := func(k, from int) {
		t.Helper()
		script(t, k, "exec >/dev/null 2>&1\n"+fmt.Sprintf(stare, from, from+5, lock))
	}
	view(2, 1) // nothing is there at all
	view(3, 1)
	for round := range 2 {
		from := 2*round + 1
		view(2, from)
		a := hold(t, 1, lock)
		id := a.held().Value("id")
		hold(t, 2, lock, "--timeout", "0").exit(75, waitLimit)
		heldBy(t, 2, lock, id)
		view(2, from)
		view(3, from)
		a.release()
		free(t, 2, lock)

		b := hold(t, 2, lock, "--timeout", "0")
		id = b.held().Value("id")
		hold(t, 1, lock, "--timeout", "0").exit(75, waitLimit)
		heldBy(t, 3, lock, id)
		heldBy(t, 1, lock, id)
		view(3, from)
		b.release()
		free(t, 3, lock)
		free(t, 1, lock)
	}

	// A hand-off to a host that looked at everything before and while it waits.
	a := hold(t, 1, lock)
	a.held()
	view(2, 7)
	b := hold(t, 2, lock)
	queued(t, lock, 2)
	if s := look(t, 3, lock); len(s.Waiters) != 1 || s.Token == 0 {
		t.Errorf("status on host 3: %+v, want one waiter and a token", s)
	}
	view(2, 7)
	b.silent()
	a.release()
	b.held()
	hold(t, 3, lock, "--timeout", "0").exit(75, waitLimit)
	b.release()
	atRest(t, lock)
}

// free reports that host k sees the lock free.
func free(t *testing.T, k int, lock string) {
	t.Helper()
	if s := look(t, k, lock); s.State != "free" || len(s.Holders) > 0 {
		t.Errorf("status on host %d: %+v, want it free", k, s)
	}
}
