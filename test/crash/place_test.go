//go:build linux && amd64

package crash

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"locksmith/test/ftpserver"
)

// A place is a directory of its own with a lock L in it.
type place struct {
	kind
	t   testing.TB
	dir string // the place's directory, on this disk
	at  string // address of the lock
	env []string

	remote bool // the place is at a server, whose disk has dir
	server *ftpserver.Server
	reaps  string // the address for reap
}

func newPlace(t testing.TB, k kind) *place {
	t.Helper()
	dir := t.TempDir()
	return &place{kind: k, t: t, dir: dir, at: k.address(dir), reaps: "mkdir:" + dir}
}

// all lists everything below the place.
func (p *place) all() []string {
	var all []string
	_ = filepath.WalkDir(p.dir, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && name != p.dir {
			all = append(all, strings.TrimPrefix(name, p.dir+"/"))
		}
		return nil // a name that goes away meanwhile does not count
	})
	return all
}

// leftovers returns the names that should not exist when the lock is free, in general terms.
func (p *place) leftovers() []string {
	var left []string
	for _, name := range p.all() {
		if name = general(name); !strings.HasPrefix(name, "filler") && !p.stays.MatchString(name) {
			left = append(left, name)
		}
	}
	return left
}

var (
	idPart     = regexp.MustCompile(`[0-9a-f]{32}`)
	ticketPart = regexp.MustCompile(`(\d+-)*<id>`)
	fencePart  = regexp.MustCompile(`fence\.\d+`)
	lifePart   = regexp.MustCompile(`/\d+\.\d+\.[A-Za-z0-9_.-]+`)
)

// general writes <id> for every part of a name that is never the same twice.
func general(name string) string {
	name = ticketPart.ReplaceAllString(idPart.ReplaceAllString(name, "<id>"), "<id>")
	return lifePart.ReplaceAllString(fencePart.ReplaceAllString(name, "fence.<n>"), "/<n>")
}

// isOrphan reports whether L is an empty directory. In plain style nobody can tell whose it is,
// but on a disk.
func (p *place) isOrphan() bool {
	inside, err := os.ReadDir(filepath.Join(p.dir, "L"))
	return p.isPlain() && p.scheme != "mkdir" && err == nil && len(inside) == 0
}

// aged makes everything in the place older.
func (p *place) aged(by time.Duration) {
	p.t.Helper()
	for _, name := range p.all() {
		name = filepath.Join(p.dir, name)
		info, err := os.Lstat(name)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			continue // it has gone meanwhile, or its time cannot be set
		}
		then := info.ModTime().Add(-by)
		if err := os.Chtimes(name, then, then); err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.t.Error(err)
		}
	}
}

// ofOneHolder is how many of the names that leftovers counts belong to one holder.
func (p *place) ofOneHolder() int {
	switch p.scheme {
	case "local", "link":
		return 1 // L
	case "mkdir":
		if p.isPlain() {
			return 3 // L, the entry in it, its heartbeat
		}
		return 2 // without L
	}
	return 2 // reservation and record
}
