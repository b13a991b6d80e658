//go:build linux

package security

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// linksOf are the plants that are symbolic links.
var linksOf = simplePlants[:6]

// TestPlantedLink: in a directory for all, another user has put a link where root has a lock of
// flock:, or draws a picture. Root follows none, and makes, writes and empties nothing. Its own links,
// and those of the directory's owner, are followed as flock(1) does.
func TestPlantedLink(t *testing.T) {
	lab.NeedRoot(t)
	events := filepath.Join(t.TempDir(), "events")
	locksmith(t, "run", "--events", events, "local:"+events+".lock", "--", "true").mustSay(t, 0)
	for _, p := range linksOf {
		t.Run(p.name, func(t *testing.T) {
			v, dir := newVictim(t), publicDir(t, 0o777|os.ModeSticky)
			path := filepath.Join(dir, "lock")
			p.at(t, v, path)
			mustWork(t, unix.Lchown(path, nobody, nobody))
			v.mustStay(t, func() {
				locksmith(t, "run", "-n", "flock:"+path, "--", "true").mustSay(t, 73, "symbolic link")
				if p.name == "dangling link" {
					for _, args := range commands("flock:" + path) {
						locksmith(t, args...)
					}
				}
				if r := locksmith(t, "timeline", "-o", path, events); r.status == 0 {
					t.Errorf("timeline draws into another user's link: %s", r.err)
				}
			})
			if there, err := os.Lstat(path); err != nil || there.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link is another thing now: %v, %v", there, err)
			}
		})
	}
	t.Run("our own link", func(t *testing.T) {
		dir := publicDir(t, 0o777|os.ModeSticky)
		mustWork(t, os.Symlink("made", filepath.Join(dir, "lock")))
		locksmith(t, "run", "-n", "flock:"+filepath.Join(dir, "lock"), "--", "true").mustSay(t, 0)
		if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
			t.Errorf("flock(1) makes what a link names: %v", err)
		}
	})
}

// TestPlantedFIFO: timeline does not wait for somebody to read a FIFO that another user put there.
func TestPlantedFIFO(t *testing.T) {
	dir := t.TempDir()
	path, events := filepath.Join(dir, "picture"), filepath.Join(dir, "events")
	locksmith(t, "run", "--events", events, "local:"+events+".lock", "--", "true").mustSay(t, 0)
	mustWork(t, unix.Mkfifo(path, 0o666))
	if r := locksmith(t, "timeline", "-o", path, events); r.status == 0 {
		t.Errorf("timeline draws into a FIFO that nobody reads: %s", r.err)
	}
}

// TestPlantedHardLink: a hard link leads to an empty file of root's. A holder's record does not go there.
func TestPlantedHardLink(t *testing.T) {
	dir := t.TempDir()
	precious, path := filepath.Join(dir, "precious"), filepath.Join(dir, "lock")
	mustWork(t, os.WriteFile(precious, nil, 0o600), os.Link(precious, path))
	locksmith(t, "run", "-n", "flock:"+path, "--", "true").mustSay(t, 0)
	if text, err := os.ReadFile(precious); err != nil || len(text) > 0 {
		t.Errorf("the file that a hard link leads to holds %q (%v), want nothing", text, err)
	}
}
