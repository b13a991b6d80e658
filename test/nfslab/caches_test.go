//go:build linux

package nfslab

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/guest"
	"locksmith/test/lab"
)

// stare fills host k's caches with all names of a lock, also with names that do not exist yet: an
// NFS client believes for half a minute that they do not.
func stare(k int, lock string, from int) {
	dir := guest.Path(k, lock)
	for n := from; n <= from+5; n++ {
		name := fmt.Sprintf("%s/G/lock.%d", dir, n)
		_, _ = os.Readlink(name)
		_, _ = os.Stat(name)
	}
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		_, _ = os.Lstat(path)
		return nil
	})
	for _, name := range []string{"", "/G", "/R"} {
		_, _ = os.Stat(dir + name)
	}
}

// stale: a host's caches are full of names that existed before, and of names that did not. The
// host takes no lock that another has, does get a free one, and shows the present state.
func stale(t *testing.T) {
	lock := place(t)
	stare(2, lock, 1) // before anything exists
	stare(3, lock, 1)
	for round := range 2 {
		from := 2*round + 1
		stare(2, lock, from)
		a := hold(t, 1, lock)
		id := a.id()
		refused(t, 2, lock)
		heldBy(t, 2, lock, id)
		stare(2, lock, from)
		stare(3, lock, from)
		a.Release()
		heldBy(t, 2, lock, "")

		b := hold(t, 2, lock, "--timeout", "0")
		id = b.id()
		refused(t, 1, lock)
		heldBy(t, 3, lock, id)
		heldBy(t, 1, lock, id)
		stare(3, lock, from)
		b.Release()
		heldBy(t, 3, lock, "")
		heldBy(t, 1, lock, "")
	}

	// A hand-off to a host that looks at everything before it waits and while it waits.
	a := hold(t, 1, lock)
	a.Held()
	stare(2, lock, 7)
	b := hold(t, 2, lock)
	queued(t, lock, 2)
	if s := look(t, 3, lock); len(s.Waiters) != 1 || s.Token == 0 {
		t.Errorf("status on host 3: %+v, want one waiter and a token", s)
	}
	stare(2, lock, 7)
	b.silent()
	a.Release()
	b.Held()
	refused(t, 3, lock)
	b.Release()
	atRest(t, lock)
}

// reader: readers on every host keep open all that they find in the lock, as a curious user or a
// backup does. They keep nobody from releasing the lock, and leave no .nfs files.
func reader(t *testing.T) {
	lock := place(t)
	first := hold(t, 1, lock)
	first.Held()
	over := make(chan struct{})
	var readers sync.WaitGroup
	for k := range crowdHosts {
		began := make(chan struct{})
		readers.Go(func() { poke(guest.Path(k+1, lock), sync.OnceFunc(func() { close(began) }), over) })
		<-began
	}
	first.Release()
	for i := range 4 {
		h := hold(t, i%crowdHosts+1, lock)
		h.Held()
		h.Release()
	}
	close(over)
	readers.Wait()
	last := hold(t, 1, lock)
	last.Held()
	last.Release()
	atRest(t, lock)
}

// poke reads in a directory, and keeps open whatever it can.
func poke(dir string, began func(), over <-chan struct{}) {
	var open []int
	defer func() {
		for _, fd := range open {
			_ = unix.Close(fd)
		}
	}()
	for {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it went away meanwhile
			}
			_, _ = os.Lstat(path)
			_, _ = os.Readlink(path)
			for _, flags := range []int{unix.O_RDONLY | unix.O_NONBLOCK, unix.O_PATH | unix.O_NOFOLLOW} {
				if fd, err := unix.Open(path, flags, 0); err == nil {
					open = append(open, fd)
				}
			}
			return nil
		})
		for ; len(open) > 100; open = open[1:] {
			_ = unix.Close(open[0])
		}
		began()
		select {
		case <-over:
			return
		default:
		}
	}
}

// mounted: the disk of an SFTP server on host 2 is a mount. A waiter there sees that a holder on
// another host lives, though the mount remembers for half a minute what its directories were like.
func mounted(t *testing.T) {
	const server = "/usr/lib/openssh/sftp-server"
	if _, err := os.Stat(server); err != nil {
		lab.Lacking(t, "not installed: openssh-sftp-server")
	}
	lock := place(t)
	ssh := filepath.Join(filepath.Dir(lock), "ssh")
	mustWork(t, os.WriteFile(onServer(ssh), []byte("#!/bin/sh\nexec "+server+"\n"), 0o755))
	a := hold(t, 1, lock, "--lease", "8s")
	a.Held()
	status, said := lab.Run(t, guest.On(2, "env", "LOCKSMITH_SSH="+ssh,
		"locksmith", "run", "--lease", "8s", "--timeout", "20s", "sftp://u@h/"+lock, "--", "true"))
	if status != 75 {
		t.Errorf("beside a living holder a waiter ends with %d:\n%s", status, said)
	}
	t.Logf("the waiter: %s", said)
	a.silent()
	a.Release()
	if strings.Contains(said, "trace of waiting") {
		return // its server was too slow, and it says so: who waits for a lease removes what it left
	}
	atRest(t, lock)
}
