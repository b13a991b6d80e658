//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// TestServers uses a directory "locks" at every server, where the account sees only its home,
// and where it sees the whole disk; there by both of its addresses. All tests of one place share
// a server.
func TestServers(t *testing.T) {
	lab.NotShort(t, "starts servers")
	t.Parallel()
	for _, kind := range ftpserver.Kinds() {
		for place, unconfined := range map[string]bool{"confined": false, "home": true, "root": true} {
			t.Run(kind+"/"+place, func(t *testing.T) {
				t.Parallel()
				s := ftpserver.Start(t, kind, ftpserver.Options{Unconfined: unconfined})
				dir := path.Join(s.Home, "locks")
				if place == "root" {
					dir = "/" + path.Join(s.Dir, "locks")
				}
				address := "ftp://" + s.User + "@" + s.Addr + dir
				t.Run("doctor", func(t *testing.T) { doctorAt(t, s, address) })
				t.Run("list", func(t *testing.T) { listAt(t, s, address) })
				t.Run("top", func(t *testing.T) { listTop(t, s, place == "confined") })
				if err := os.RemoveAll(filepath.Join(s.Dir, "locks")); err != nil {
					t.Fatal(err)
				}
				t.Run("reap", func(t *testing.T) { reapAt(t, s, address) })
			})
		}
	}
}

// listAt: what list finds there.
func listAt(t *testing.T, s *ftpserver.Server, dir string) {
	makeListed(t, s)
	for _, c := range []struct {
		place string
		flags []string
		want  string
	}{
		{"", nil, "empty held 1 0, held held 1 1, tree?style=dir held 1 1"},
		{"", []string{"--depth", "2"}, "empty held 1 0, held held 1 1, more/tree?style=dir free 0 0, tree?style=dir held 1 1"},
		{"", []string{"--where", "lease=2s", "--waiting"}, "held held 0 1, tree?style=dir held 0 1"},
		{"?style=dir", nil, "tree?style=dir held 1 1"},
		{"/more", nil, "more/tree?style=dir free 0 0"},
		{"/tree", nil, "tree?style=dir held 1 1"},
	} {
		locks, said, status := list(t, s, append(c.flags, dir+c.place)...)
		var have []string
		for _, l := range locks {
			name := strings.TrimPrefix(strings.TrimPrefix(l.Lock, dir), "/")
			have = append(have, strings.Join([]string{name, l.State, count(l.Holders), count(l.Waiters)}, " "))
		}
		if got := strings.Join(have, ", "); got != c.want || status != 0 {
			t.Errorf("list of %s with %q finds %s, want %s; status %d, %s", c.place, c.flags, got, c.want, status, said)
		}
	}
	if locks, said, status := list(t, s, dir+"/none"); status == 0 || len(locks) > 0 || said == "" {
		t.Errorf("list of a directory that is not there: %v, %q, status %d", locks, said, status)
	}
}

// listTop: list can begin where the log in leads, and at the root, here of a server that shows
// nothing else.
func listTop(t *testing.T, s *ftpserver.Server, confined bool) {
	home := s.Dir
	if confined { // the account may only write in a directory below
		home = strings.TrimSuffix(home, strings.TrimSuffix(s.Home, "/"))
	}
	if err := os.MkdirAll(filepath.Join(home, "top", "x.1000-0123456789abcdef0123456789abcdef", "1.1.x"), 0o755); err != nil {
		t.Fatal(err)
	}
	server := "ftp://" + s.User + "@" + s.Addr
	places := map[string]string{"": "/top", "/": "/top", "/.": "/top", "?style=plain": "/top"}
	if confined {
		places["//"], places["/%2F"] = "//top", "//top"
	}
	for place, lock := range places {
		locks, said, status := list(t, s, "--held", server+place)
		if !slices.ContainsFunc(locks, func(l listedLock) bool { return l.Lock == server+lock && l.State == "held" }) || status != 0 {
			t.Errorf("list of %q finds %v, status %d, %s", place, locks, status, said)
		}
		if slices.ContainsFunc(locks, func(l listedLock) bool { return strings.Contains(l.Lock, "/locks/") }) {
			t.Errorf("list of %q looks deeper than one level at a server: %v", place, locks)
		}
	}
}

// makeListed makes a directory of locks: an empty one, one of each style with a holder and a
// waiter, and a free one a level below.
func makeListed(t *testing.T, s *ftpserver.Server) {
	t.Helper()
	const holder, waiter = "1000-0123456789abcdef0123456789abcdef", "2000-fedcba9876543210fedcba9876543210"
	for _, name := range []string{
		"empty", "held/x." + holder + "/1.1.x", "held.r." + waiter + "/x." + waiter + "/1.1.x",
		"tree/fence.2", "tree/lock/x." + holder + "/1.1.x", "tree/r." + waiter + "/x." + waiter + "/1.1.x",
		"more/tree/fence.4",
	} {
		if err := os.MkdirAll(filepath.Join(s.Dir, "locks", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "locks", "README"), []byte("locks\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

type listedLock struct {
	Lock, State      string
	Holders, Waiters []any
}

func count(all []any) string { return string(rune('0' + len(all))) }

func list(t *testing.T, s *ftpserver.Server, args ...string) (locks []listedLock, said string, status int) {
	t.Helper()
	home := t.TempDir()
	var stdout, stderr strings.Builder
	cmd := exec.Command("locksmith", slices.Concat([]string{"list", "--json"}, args)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "LOCKSMITH_PASSWORD="+s.Password)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	var all struct{ Locks []listedLock }
	if err := json.Unmarshal([]byte(stdout.String()), &all); err != nil {
		t.Fatalf("%v: %s%s", err, &stdout, &stderr)
	}
	return all.Locks, stderr.String(), cmd.ProcessState.ExitCode()
}
