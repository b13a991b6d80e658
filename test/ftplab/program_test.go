package ftplab

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// waitLimit bounds each wait for what should come at once, on a slow machine.
const waitLimit = 60 * time.Second

// locksmith is a command that finds the password of a place, and is in another
// time zone than its server.
func (p *place) locksmith(ctx context.Context, args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := exec.CommandContext(ctx, built.Path(p.t, "locksmith"), append(args[:1:1], append(p.trust(), args[1:]...)...)...)
	home := p.t.TempDir()
	cmd.Env = append(os.Environ(), "TZ=UTC", "HOME="+home, "XDG_CONFIG_HOME="+home, "LOCKSMITH_PASSWORD="+p.server.Password)
	cmd.WaitDelay = time.Second
	return cmd
}

func (p *place) trust() []string {
	if p.server.CA == "" {
		return nil
	}
	return []string{"--ca", p.server.CA}
}

// do runs a command of locksmith to its end, which must be in time.
func (p *place) do(args ...string) (status int, said string) {
	p.t.Helper()
	return p.doWithin(waitLimit, args...)
}

func (p *place) doWithin(limit time.Duration, args ...string) (status int, said string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := p.locksmith(ctx, args...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil || cmd.ProcessState == nil {
		p.t.Fatalf("%q: not done within %v: %v\n%s", args, limit, err, out)
	}
	return cmd.ProcessState.ExitCode(), strings.TrimSpace(string(out))
}

// must is do for what must succeed.
func (p *place) must(args ...string) string {
	p.t.Helper()
	return p.mustWithin(waitLimit, args...)
}

func (p *place) mustWithin(limit time.Duration, args ...string) string {
	p.t.Helper()
	status, said := p.doWithin(limit, args...)
	if status != 0 {
		p.t.Errorf("%q: exit status %d\n%s", args, status, said)
	}
	return said
}

// clean removes what crashed helpers left, as an operator does, hours later.
// Then the lock is free.
func (p *place) clean() {
	p.t.Helper()
	p.aged()
	p.t.Logf("reap: %s", p.must("reap", "--max-age", "10m", "--yes", p.directory()))
	p.atRest()
}

// atRest makes sure that the lock is free, that it can be taken at once, and that
// nothing is left over.
func (p *place) atRest() {
	p.t.Helper()
	p.must("run", "--timeout", "0", p.address(), "--", "true")
	if left := p.leftovers(); len(left) > 0 {
		p.t.Errorf("left: %q", left)
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, waitLimit)
		}
	}
}
