//go:build unix

package history

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// A cell is one lock, or a few, with contenders of its own.
type cell struct {
	kind  kind
	name  string
	dir   string // on this disk
	locks []*lock
	tally *tally
	env   []string
}

// A contender exists for the whole test. It lives one life after the other.
type contender struct {
	cell   *cell
	number int
	wish   []membership // the locks that it wants, without tokens
	rounds int
	helper string // "": this version's
}

func (c *contender) String() string { return fmt.Sprintf("%s %d", c.cell.name, c.number) }

// newCell makes a cell: its directory in the directory in, and the profiles of its locks.
func newCell(t *testing.T, in string, k kind, name string, server *ftpserver.Server, sum *tally) *cell {
	t.Helper()
	c := &cell{kind: k, name: name, dir: filepath.Join(in, name), tally: sum}
	if strings.HasPrefix(k.name, "ftp") {
		c.dir = filepath.Join(server.Dir, name)
	}
	home := filepath.Join(in, name+".home")
	config := filepath.Join(home, "locksmith")
	for _, dir := range []string{c.dir, config} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text := ""
	for i, address := range k.locks {
		address = strings.NewReplacer("%[2]s", name, "%s", c.dir).Replace(address)
		l := &lock{profile: fmt.Sprintf("lock%d", i), address: address}
		c.locks = append(c.locks, l)
		text += fmt.Sprintf("[%s]\nlock = %q\n%s", l.profile, address, k.more)
		if !k.kernelDrops {
			text += fmt.Sprintf("lease = %q\n", lease)
		}
	}
	if err := os.WriteFile(filepath.Join(config, "profiles.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "LOCKSMITH="+lab.Program(t, "cmd/locksmith"), "LOCKSMITH_PASSWORD="+server.Password, "GOMAXPROCS=2")
	if k.pool {
		c.env = append(c.env, "POOL=1")
	}
	return c
}

// directory makes a directory that goes away with the test. Helpers that were woken late may
// still be working in it.
func directory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "history-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lab.Eventually(t, dir+" is removed", func() bool { return os.RemoveAll(dir) == nil }) })
	return dir
}

// contenders makes the contenders of a cell, numbered from first.
func (c *cell) contenders(first int) (all []*contender) {
	for i, wish := range c.kind.wishes {
		k := &contender{cell: c, number: first + i}
		if n := len(c.kind.helpers); n > 0 {
			k.helper = c.kind.helpers[i%n]
		}
		for _, position := range wish {
			m := membership{lock: c.locks[max(position, -1-position)], shared: position < 0}
			k.wish = append(k.wish, m)
		}
		all = append(all, k)
	}
	return all
}

// live is the whole existence of a contender: whenever its parent ends, it starts another, until
// the test is over.
func (c *contender) live(r *recorder, program string) error {
	for n := 0; ; n++ {
		l, name := &life{contender: c}, fmt.Sprintf("%d.%d", c.number, n)
		if !r.expect(name, l) {
			return nil
		}
		cmd := exec.Command(program, append([]string{r.socket, name}, c.arguments()...)...)
		cmd.Env = c.cell.env
		if c.helper != "" {
			cmd.Env = append(slices.Clone(cmd.Env), "LOCKSMITH="+c.helper)
		}
		cmd.Stderr = r.stderr
		if err := cmd.Start(); err != nil {
			return err
		}
		r.started(l, cmd.Process)
		_ = cmd.Wait() // it fails because we kill it
		r.ended(l, name, cmd.ProcessState)
	}
}

func (c *contender) arguments() (all []string) {
	for _, m := range c.wish {
		name := m.lock.profile
		if m.shared {
			name = "shared:" + name
		}
		all = append(all, name)
	}
	return all
}
