package interop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A pair is a kind of lock and a tool that is to live with it.
type pair struct {
	scheme  string
	options string
	tool    tool
	limit   string // that we know of
}

// A cell is a pair at work, and what was seen.
type cell struct {
	*testing.T
	pair
	dir  string
	seen findings
}

type findings struct {
	theyExclude, weExclude, refresh string
	contended                       string
	theirCrash, ourCrash            string
}

func newCell(t *testing.T, p pair) *cell {
	t.Helper()
	p.tool.require(t)
	return &cell{T: t, pair: p, dir: t.TempDir()}
}

func (p pair) name() string { return p.scheme + p.options + " " + p.tool.name }

func (c *cell) path() string    { return filepath.Join(c.dir, "mbox.lock") }
func (c *cell) address() string { return c.scheme + c.path() + c.options }

// line tells what was seen.
func (c *cell) line() string {
	s := c.seen
	return fmt.Sprintf("cell: %s%s %s they-exclude-us=%s we-exclude-them=%s contended=%s refresh=%q crash-of-theirs=%q crash-of-ours=%q limit=%q",
		c.scheme, c.options, c.tool.name, s.theyExclude, s.weExclude, s.contended, s.refresh, s.theirCrash, s.ourCrash, c.limit)
}

// row is the same for README.
func (c *cell) row() string {
	s := c.seen
	return "| " + strings.Join([]string{"`" + c.scheme + c.options + "`", c.tool.name, s.theyExclude, s.weExclude, s.contended,
		s.theirCrash, s.ourCrash, c.limit}, " | ") + " |\n"
}

// ours is a locksmith that holds the lock or waits for it.
func (c *cell) ours(flags ...string) *holder {
	c.Helper()
	return start(c.T, c.run(append(flags, c.address(), "--", "sh", "-c", "echo held; exec cat")...))
}

func (c *cell) run(args ...string) *exec.Cmd {
	return exec.Command(built.Path(c.T, "locksmith"), append([]string{"run"}, args...)...)
}

// theirs is the tool's holder or waiter.
func (c *cell) theirs() *holder {
	c.Helper()
	return start(c.T, c.tool.command(false, "hold", c.path()))
}

// weTake reports whether locksmith gets the lock, as opposed to finding it held.
func (c *cell) weTake(flags ...string) bool {
	c.Helper()
	status, said := statusOf(c.T, c.run(append(flags, c.address(), "--", "true")...))
	if status != 0 && status != held {
		c.Fatalf("locksmith: exit status %d\n%s", status, said)
	}
	return status == 0
}

// they let the tool try. Its status is 0, held, or another if it could not tell.
func (c *cell) they(old bool) (status int, said string) {
	c.Helper()
	status, said = statusOf(c.T, c.tool.command(old, "try", c.path()))
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return status, lines[len(lines)-1]
}

// age makes the lock so old, and read just now.
func (c *cell) age(d time.Duration) {
	c.Helper()
	mustWork(c.T, os.Chtimes(c.path(), time.Now(), time.Now().Add(-d)))
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
		c.Errorf("left: %v, %v", left, err)
	}
}

// clear removes what crashed holders left.
func (c *cell) clear() {
	c.Helper()
	mustWork(c.T, os.RemoveAll(c.dir))
	mustWork(c.T, os.Mkdir(c.dir, 0o755))
}

// verdict says what was seen of something that must be so.
func (c *cell) verdict(what string, ok bool) string {
	c.Helper()
	if !ok {
		c.Errorf("not so: %s", what)
		return "NO"
	}
	return "yes"
}
