package soak

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"locksmith/test/ftpserver"
)

// A place is a directory with two locks: one is held all the time, the other goes from
// hand to hand.
type place struct {
	name string
	dir  string   // on this disk; all that becomes of the locks is in it
	kept []string // addresses: more than one if it is a set
	busy []string
	port int // of the server on this machine; 0: there is none
}

// places are one of each kind.
func places(t *testing.T) []place {
	t.Helper()
	dir := t.TempDir()
	all := []place{
		onDisk(t, dir, "local", "local:%s/l"),
		onDisk(t, dir, "nfs", "nfs:%s/l"),
		onDisk(t, dir, "link", "link:%s/l"),
		onDisk(t, dir, "mkdir plain", "mkdir:%s/l"),
		onDisk(t, dir, "mkdir dir", "mkdir:%s/l?style=dir"),
		onDisk(t, dir, "set of three", "local:%s/l", "nfs:%s/n", "mkdir:%s/m?style=dir"),
	}
	server := ftpserver.Start(t, "embedded", ftpserver.Options{})
	t.Setenv("LOCKSMITH_PASSWORD", server.Password)
	return append(all, onServer(t, server, "ftp plain", ""), onServer(t, server, "ftp dir", "?style=dir"))
}

// onDisk makes the place for locks with these addresses, in which %s is a directory.
func onDisk(t *testing.T, parent, name string, addresses ...string) place {
	t.Helper()
	p := place{name: name, dir: filepath.Join(parent, name)}
	for _, lock := range []string{"kept", "busy"} {
		dir := filepath.Join(p.dir, lock)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, a := range addresses {
			p.add(lock, fmt.Sprintf(a, dir))
		}
	}
	return p
}

func (p *place) add(lock, address string) {
	if lock == "kept" {
		p.kept = append(p.kept, address)
	} else {
		p.busy = append(p.busy, address)
	}
}

// onServer makes a place at a server.
func onServer(t *testing.T, s *ftpserver.Server, name, options string) place {
	t.Helper()
	dir, err := os.MkdirTemp(s.Dir, "")
	if err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := place{name: name, dir: dir, port: portOf(t, s.Addr)}
	for _, lock := range []string{"kept", "busy"} {
		p.add(lock, fmt.Sprintf("ftp://%s@%s/%s/%s%s", s.User, s.Addr, filepath.Base(dir), lock, options))
	}
	return p
}

func portOf(t *testing.T, addr string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// entries counts all there is in the place. What goes away meanwhile is not there.
func (p place) entries() (n int) {
	_ = filepath.WalkDir(p.dir, func(string, fs.DirEntry, error) error {
		n++
		return nil
	})
	return n
}
