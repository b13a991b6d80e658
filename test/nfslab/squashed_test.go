//go:build linux

package nfslab

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A user of a host. The server may hold it for somebody else.
type user struct{ host, uid int }

func (u user) hold(t *testing.T, lock string, flags ...string) *holder {
	t.Helper()
	text := fmt.Sprintf(`setpriv --reuid %d --regid %[1]d --clear-groups locksmith hold --stdin watch "$@"; exit $?`, u.uid)
	return spawn(t, u.host, text, append(flags, lock)...)
}

var root, alice = user{1, 0}, user{2, 1001}

// squashed: the server holds all users for nobody, or root alone (exports(5)), so that
// what they make belongs to somebody else than themselves.
func squashed(t *testing.T) {
	const everybody = "mode=777"
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		dir, at := share(t, []int{1, 2}, 15, "rw,all_squash", "mount", "-t", "tmpfs", "-o", everybody, "tmpfs")
		lockSquashed(t, dir, at)
	})
	t.Run("root", func(t *testing.T) {
		t.Parallel()
		dir, at := share(t, []int{1, 2}, 16, "rw,root_squash", "mount", "-t", "tmpfs", "-o", everybody, "tmpfs")
		// Who are not the same there need a directory that both may write.
		do(t, "mkdir", "-m", "777", dir+"/nfs", dir+"/early")
		// Root, who is nobody there, has made a lock, but died before alice could use it.
		do(t, "install", "-d", "-m", "755", "-o", "65534", "-g", "65534", dir+"/early/R", dir+"/early/G")
		for _, u := range []user{root, alice} {
			h := u.hold(t, "nfs:"+at+"/early")
			h.Held()
			h.Release()
		}
		do(t, "rm", "-r", dir+"/early")
		lockSquashed(t, dir, at)
	})
}

// lockSquashed takes locks of each kind below at, which is dir on the server.
func lockSquashed(t *testing.T, dir, at string) {
	t.Run("locks", func(t *testing.T) {
		for _, lock := range []string{"nfs:nfs", "mkdir:plain", "mkdir:dir?style=dir", "link:link?dir=any"} {
			t.Run(lock, func(t *testing.T) {
				t.Parallel()
				lock = strings.Replace(lock, ":", ":"+at+"/", 1)
				takeTurns(t, lock)
				if strings.HasPrefix(lock, "nfs:") || strings.HasSuffix(lock, "=dir") {
					takeTogether(t, lock)
				}
			})
		}
	})
	left, err := filepath.Glob(dir + "/*")
	if want := []string{dir + "/dir", dir + "/nfs"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %q (%v), want %q", left, err, want)
	}
}

// takeTurns takes a lock, waits for it, and breaks it when its holder is dead.
func takeTurns(t *testing.T, lock string) {
	first := root.hold(t, lock)
	first.Held()
	alice.hold(t, lock, "--timeout", "0").Exits(75)
	next := alice.hold(t, lock)
	first.Release()
	next.Held()
	for _, heir := range []user{{alice.host, root.uid}, alice} { // proof is on one host
		next.kill(both)
		next = heir.hold(t, lock)
		next.Held()
	}
	root.hold(t, lock, "--timeout", "0").Exits(75)
	next.Release()
}

// takeTogether shares a lock, also with one who dies of it: another host goes by its
// lease.
func takeTogether(t *testing.T, lock string) {
	one, two := root.hold(t, lock, "--shared"), alice.hold(t, lock, "--shared", "--lease", deadLease)
	one.Held()
	two.Held()
	two.kill(both)
	one.Release()
	heir := root.hold(t, lock)
	heir.Held()
	alice.hold(t, lock, "--shared", "--timeout", "0").Exits(75)
	heir.Release()
}
