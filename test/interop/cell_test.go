//go:build unix

package interop

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/test/lab"
)

// glance is how long we look for what must not happen.
const glance = 200 * time.Millisecond

// A pair is a kind of lock and a tool that is to live with it.
type pair struct {
	scheme  string
	options string
	tool    tool
	limit   string // that we know
}

func (p pair) name() string { return p.scheme + p.options + " " + p.tool.name }

// A cell is a pair at work, in a directory of its own.
type cell struct {
	*testing.T
	pair
	dir string
}

func newCell(t *testing.T, p pair) *cell {
	t.Helper()
	lab.NotShort(t, "other people's programs take seconds")
	p.tool = p.tool.found(t)
	return &cell{t, p, t.TempDir()}
}

func (c *cell) path() string    { return filepath.Join(c.dir, "mbox.lock") }
func (c *cell) address() string { return c.scheme + c.path() + c.options }

// A holder has the lock or waits for it. It says "held" when it has it, and leaves it when its
// input ends.
type holder struct{ *lab.Process }

// ours starts a locksmith as a holder.
func (c *cell) ours(flags ...string) holder {
	c.Helper()
	return holder{lab.Start(c.T, c.run(append(flags, c.address(), "--", "sh", "-c", "echo held; exec cat")...))}
}

// theirs starts the tool's holder.
func (c *cell) theirs() holder {
	c.Helper()
	return holder{lab.Start(c.T, c.tool.command(false, "hold", c.path()))}
}

// held waits until the holder has the lock.
func (h holder) held() holder {
	h.Expect("held")
	return h
}

// waits makes sure that the holder does not have the lock yet.
func (h holder) waits() { h.Silent(glance) }

// leave has the holder leave the lock and end.
func (h holder) leave() {
	h.LetGo()
	h.Rest()
	h.Exits(0)
}

// refresh has the holder give a sign of life.
func (c *cell) refresh(h holder) {
	c.Helper()
	_, err := io.WriteString(h.Stdin, "\n")
	mustWork(c.T, err)
	h.Expect("refreshed")
}

func (c *cell) run(args ...string) *exec.Cmd {
	return locksmith(c.T, append([]string{"run"}, args...)...)
}

// weTake reports whether locksmith gets the lock. If not, the lock is held.
func (c *cell) weTake(flags ...string) bool {
	c.Helper()
	status, said := lab.Run(c.T, c.run(append(flags, c.address(), "--", "true")...))
	if status != 0 && status != held {
		c.Fatalf("locksmith tries the lock: exit status %d, want 0, or 75 if it is held\n%s", status, said)
	}
	return status == 0
}

// they lets the tool try the lock. The status is 0, held, or another one if the tool could not
// tell.
func (c *cell) they(old bool) (status int, said string) {
	c.Helper()
	status, said = lab.Run(c.T, c.tool.command(old, "try", c.path()))
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return status, lines[len(lines)-1]
}

// age sets the lock's time so long ago, and its last reading to now.
func (c *cell) age(d time.Duration) {
	c.Helper()
	mustWork(c.T, os.Chtimes(c.path(), time.Now(), time.Now().Add(-d)))
}

// modified returns the lock's time.
func (c *cell) modified() time.Time {
	c.Helper()
	info, err := os.Lstat(c.path())
	mustWork(c.T, err)
	return info.ModTime()
}

func (c *cell) exists() bool {
	_, err := os.Lstat(c.path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Fatal(err)
	}
	return err == nil
}

// mustBeEmpty makes sure that nothing is left over.
func (c *cell) mustBeEmpty() {
	c.Helper()
	if left, err := os.ReadDir(c.dir); err != nil || len(left) > 0 {
		c.Errorf("the directory of the lock is not empty afterwards: %v, %v", left, err)
	}
}
