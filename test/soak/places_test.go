//go:build linux

package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"locksmith/test/ftpserver"
)

// A place is a directory with two locks, or sets of locks: one is held all the time, the other
// goes from hand to hand.
type place struct {
	name       string
	dir        string // on this disk; all files of the locks are in it
	kept, busy []string
	server     string   // its address on this machine; "": there is none
	memory     []string // the directories in which its visitors alone remember what they saw
}

// places returns one place for each kind of lock.
func places(t *testing.T) (all []place) {
	t.Helper()
	for name, addresses := range map[string][]string{
		"local": {"local:%s/l"}, "flock": {"flock:%s/l"}, "nfs": {"nfs:%s/l"}, "link": {"link:%s/l"},
		"mkdir plain": {"mkdir:%s/l"}, "mkdir dir": {"mkdir:%s/l?style=dir"},
		"set of three": {"local:%s/l", "nfs:%s/n", "mkdir:%s/m?style=dir"},
	} {
		p := place{name: name, dir: t.TempDir()}
		p.lock(t, p.dir, addresses...)
		all = append(all, p)
	}
	server := ftpserver.Start(t, "embedded", ftpserver.Options{})
	t.Setenv("LOCKSMITH_PASSWORD", server.Password)
	for name, options := range map[string]string{"ftp plain": "", "ftp dir": "?style=dir"} {
		p := place{name: name, dir: filepath.Join(server.Dir, name[4:]), server: server.Addr}
		p.lock(t, "/"+name[4:], "ftp://"+server.User+"@"+server.Addr+"%s/l"+options)
		all = append(all, p)
	}
	return all
}

// lock makes the directories of both locks, which have these addresses: in them %s is the
// directory's, below one of the place's as the lock's address has it.
func (p *place) lock(t *testing.T, in string, addresses ...string) {
	t.Helper()
	for name, lock := range map[string]*[]string{"kept": &p.kept, "busy": &p.busy} {
		if err := os.MkdirAll(filepath.Join(p.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, a := range addresses {
			*lock = append(*lock, fmt.Sprintf(a, filepath.Join(in, name)))
		}
	}
}
