//go:build unix

package readme

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksmith/client"
	"locksmith/test/lab"
)

// A scene brings a lock into the state that a picture in backends/README.md shows. It has the
// picture's title.
type scene struct {
	title string
	query string // of the lock's address
	play  func(*stage)
}

var scenes = []scene{
	{"nfs: A holds the lock, B waits", "", func(s *stage) { s.holds("A"); s.waits("B") }},
	{"nfs: A has released it, B holds it", "", func(s *stage) { s.holds("A"); s.releases("A"); s.holds("B") }},
	{"nfs: A and B share the lock, C waits to have it alone", "", func(s *stage) {
		s.holds("A", client.Shared())
		s.holds("B", client.Shared())
		s.waits("C")
	}},
	{"nfs: A was the last, the lock is free", "", func(s *stage) { s.holds("A"); s.releases("A") }},
	{"mkdir: A holds the lock, B waits", "", func(s *stage) { s.holds("A"); s.waits("B") }},
	{"mkdir: ?style=dir, A holds the lock, B waits", "?style=dir", func(s *stage) { s.holds("A"); s.waits("B") }},
	{"mkdir: ?style=dir, A and B share the lock", "?style=dir", func(s *stage) {
		s.holds("A", client.Shared())
		s.holds("B", client.Shared())
	}},
	{"mkdir: ?style=dir, A was the last, the lock is free", "?style=dir", func(s *stage) { s.holds("A"); s.releases("A") }},
	{"local: A holds the lock, B waits", "", func(s *stage) { s.holds("A"); s.waits("B") }},
	{"link: A holds the lock, B waits", "", func(s *stage) { s.holds("A"); s.waits("B") }},
}

// TestPictures compares the pictures with what real helpers leave in a directory.
func TestPictures(t *testing.T) {
	drawn := pictures(t)
	helper := lab.Program(t, "cmd/locksmith")
	for _, scene := range scenes {
		t.Run(scene.title, func(t *testing.T) {
			t.Parallel()
			picture, ok := drawn[scene.title]
			if !ok {
				t.Fatal("there is no such picture")
			}
			dir := t.TempDir()
			kind, _, _ := strings.Cut(scene.title, ":")
			s := &stage{T: t, dir: dir, address: kind + ":" + filepath.Join(dir, "L") + scene.query,
				helper: client.Helper(helper), locks: map[string]*client.Lock{}, names: map[string]string{}}
			scene.play(s)
			s.compare(picture)
		})
	}
	for title := range drawn {
		if !slices.ContainsFunc(scenes, func(s scene) bool { return s.title == title }) {
			t.Errorf("no scene is called %q", title)
		}
	}
}

// pictures returns the pictures of backends/README.md by their titles.
func pictures(t *testing.T) map[string]string {
	all := map[string]string{}
	for _, b := range blocksOf(t, "backends/README.md") {
		title, rest, _ := strings.Cut(b.text, "\n")
		all[title] = rest
	}
	return all
}

// A stage is where a scene is played.
type stage struct {
	*testing.T
	dir, address string
	helper       client.Option
	locks        map[string]*client.Lock // of who holds
	names        map[string]string       // what the pictures call each id
	waiting      string                  // what the pictures call anybody whose id is not in names
}

func (s *stage) holds(who string, options ...client.Option) {
	ctx, cancel := context.WithTimeout(s.Context(), lab.Patience)
	defer cancel()
	lock, err := client.Acquire(ctx, s.address, append(options, s.helper)...)
	if err != nil {
		s.Fatal(err)
	}
	s.locks[who], s.names[lock.ID()] = lock, who
	s.Cleanup(func() { _ = lock.Release() })
}

func (s *stage) releases(who string) {
	if err := s.locks[who].Release(); err != nil {
		s.Fatal(err)
	}
}

// waits starts a waiter that waits until the scene is over.
func (s *stage) waits(who string) {
	s.waiting = who
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if lock, err := client.Acquire(ctx, s.address, s.helper); err == nil {
			s.Error("the waiter got the lock")
			_ = lock.Release()
		}
	}()
	s.Cleanup(func() { cancel(); <-ended })
}

// compare waits until the directory looks like the picture.
func (s *stage) compare(picture string) {
	lab.Eventually(s, "the directory looks like\n"+picture,
		func() bool { return s.draw() == picture },
		func() string { return "but like\n" + s.draw() })
}

var (
	ticket    = regexp.MustCompile(`(?:[0-9]+-)*([0-9a-f]{32})`)
	heartbeat = regexp.MustCompile(`([a-z])\.([A-Z])/[0-9]+\.1\.[-_A-Za-z0-9]+/$`)
	record    = regexp.MustCompile(`^LOCK v=1 id=([A-Z]) host=.* pid=[0-9]+ [^\n]*\n?$`)
	lockFile  = regexp.MustCompile(`^[0-9]+\nLOCK v=1 id=([A-Z]) host=.* pid=[0-9]+ [^\n]*\n?$`)
)

// draw lists the directory's entries, with the pictures' names. A directory that is not empty
// shows only in its entries.
func (s *stage) draw() string {
	var lines []string
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		line, err := s.line(path, d)
		if last := len(lines) - 1; last >= 0 && strings.HasSuffix(lines[last], "/") && strings.HasPrefix(line, lines[last]) {
			lines = lines[:last]
		}
		lines = append(lines, line)
		return err
	})
	if err != nil {
		return err.Error() + "\n" // the directory changed meanwhile
	}
	slices.Sort(lines) // sorted by names, because tickets have an order of their own
	return strings.Join(lines, "\n") + "\n"
}

func (s *stage) line(path string, d fs.DirEntry) (string, error) {
	full, name := filepath.Join(s.dir, path), s.named(path)
	switch d.Type() {
	case fs.ModeDir:
		return heartbeat.ReplaceAllString(name+"/", "$1.$2/<n>.… (who $2 is)"), nil
	case fs.ModeSymlink:
		target, err := os.Readlink(full)
		return name + " -> " + record.ReplaceAllString(s.named(target), "who $1 is"), err
	default:
		content, err := os.ReadFile(full)
		return name + " (" + lockFile.ReplaceAllString(s.named(string(content)), "the pid of $1, and who $1 is") + ")", err
	}
}

// named replaces tickets by names.
func (s *stage) named(text string) string {
	return ticket.ReplaceAllStringFunc(text, func(id string) string {
		if name, ok := s.names[ticket.FindStringSubmatch(id)[1]]; ok {
			return name
		}
		return s.waiting
	})
}
