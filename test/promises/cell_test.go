//go:build linux

package promises

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
	"locksmith/test/lab/kinds"
)

// A cell is a question to a kind: a lock that nobody has used, and a user with a home.
type cell struct {
	*testing.T
	*kinds.Lock
	home string
}

func newCell(t *testing.T, k kinds.Kind) *cell {
	t.Helper()
	c := &cell{t, k.Lock(t), t.TempDir()}
	c.must(os.WriteFile(filepath.Join(c.home, ".netrc"), []byte(k.Netrc), 0o600))
	return c
}

// env is the environment of a user with a home.
func (c *cell) env() []string {
	env := []string{"PATH=" + filepath.Dir(c.Program) + ":" + os.Getenv("PATH"), "HOME=" + c.home, "LOCKSMITH_PROGRAM=" + c.Program, "LOCK=" + c.Address}
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "AWS_") {
			env = append(env, v)
		}
	}
	return append(env, c.Env...)
}

// command is a command of this kind's program.
func (c *cell) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.Program, args...)
	cmd.Env = c.env()
	return cmd
}

// A said is what came of a command.
type said struct {
	status   int // -n: signal n ended it
	out, err string
}

func (s said) String() string { return fmt.Sprintf("status %d, %q, %q", s.status, s.out, s.err) }

// has reports whether one of these words was said.
func (s said) has(words ...string) bool {
	for _, w := range words {
		if strings.Contains(s.out+s.err, w) {
			return true
		}
	}
	return false
}

// patience ends what would never end.
const patience = 2 * time.Minute

// finish runs a command to its end.
func (c *cell) finish(cmd *exec.Cmd) said {
	c.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, 5*time.Second
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	err := cmd.Wait()
	if ctx.Err() != nil {
		c.Fatalf("%q does not end: %s", cmd.Args, errs.String())
	}
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) && !errors.Is(err, exec.ErrWaitDelay) {
		c.Fatal(err)
	}
	return said{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// do runs a command of this kind's program to its end.
func (c *cell) do(args ...string) said {
	c.Helper()
	return c.finish(c.command(args...))
}

// try is a short quiet try, as in the guide's crontab, of a job that says ran.
func (c *cell) try(flags ...string) said {
	c.Helper()
	return c.do(c.trying(flags...)...)
}

func (c *cell) trying(flags ...string) []string {
	return append(append([]string{"run", "-n", "-q", "-E", "0"}, flags...), c.Address, "--", "echo", "ran")
}

// lasting are flags for a lease, as far as the kind has one.
func (c *cell) lasting(lease time.Duration) []string {
	if c.Kernel {
		return nil
	}
	return []string{"--lease", lease.String()}
}

// short are flags for the shortest lease that a busy machine bears.
func (c *cell) short() []string { return c.lasting(c.lease()) }

func (c *cell) lease() time.Duration {
	if c.Server {
		return 8 * time.Second
	}
	return 3 * time.Second
}

// A job is a command under the lock, which says in when it runs.
type job struct{ *lab.Process }

// run starts a job that ends when its input ends, and returns when it runs.
func (c *cell) run(flags ...string) *job {
	c.Helper()
	return c.runs("echo in; exec cat", flags...)
}

// runs starts a job of a shell, and returns when it has said in.
func (c *cell) runs(script string, flags ...string) *job {
	c.Helper()
	return c.started(c.command(append(append([]string{"run"}, flags...), c.Address, "--", "sh", "-c", script)...))
}

// started starts a job, again if its server did not answer within its lease, as on a busy machine.
func (c *cell) started(cmd *exec.Cmd) *job {
	c.Helper()
	for range 10 {
		again := exec.Command(cmd.Path)
		again.Args, again.Env, again.SysProcAttr, again.Err = cmd.Args, cmd.Env, cmd.SysProcAttr, cmd.Err
		p := lab.Start(c, again)
		switch l, err := p.Next(); {
		case err == nil && l.Text == "in":
			return &job{p}
		case err == nil || p.Status() != protocol.Unreachable.Exit():
			c.Fatalf("%q: want \"in\", it says %q (%v); stderr:\n%s", cmd.Args, l.Text, err, p.Stderr())
		}
	}
	c.Fatalf("%q: its server does not answer", cmd.Args)
	return nil
}

// tryStart starts a job as started does, where it may not begin.
func (c *cell) tryStart(cmd *exec.Cmd) (*job, evil) {
	c.Helper()
	p := lab.Start(c, cmd)
	if l, err := p.Next(); err != nil || l.Text != "in" {
		return nil, evil(said{p.Status(), l.Text, p.Stderr()}.String())
	}
	return &job{p}, ""
}

// end lets a job end, and returns its status and what it said on standard error.
func (j *job) end() said {
	j.LetGo()
	return j.ended()
}

// ended waits for the end of a job.
func (j *job) ended() said { return said{status: j.Status(), err: j.Stderr()} }

// endsWithin reports whether a job ends by itself.
func (j *job) endsWithin(d time.Duration) bool {
	select {
	case <-j.Ended():
		return true
	case <-time.After(d):
		return false
	}
}
