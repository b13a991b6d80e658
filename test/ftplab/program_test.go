//go:build unix

package ftplab

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"locksmith/test/lab"
	"locksmith/test/lab/contest"
)

// locksmith returns a command that finds the place's password, and runs in another time zone than
// the server.
func (p *place) locksmith(args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := exec.Command(lab.Program(p.t, "cmd/locksmith"), args[0])
	if p.server.CA != "" {
		cmd.Args = append(cmd.Args, "--ca", p.server.CA)
	}
	cmd.Args = append(cmd.Args, args[1:]...)
	home := p.t.TempDir()
	cmd.Env = append(os.Environ(), "TZ=UTC", "HOME="+home, "XDG_CONFIG_HOME="+home, "LOCKSMITH_PASSWORD="+p.server.Password)
	return cmd
}

// do runs a command of locksmith to its end.
func (p *place) do(args ...string) (status int, said string) {
	p.t.Helper()
	status, said = lab.Run(p.t, p.locksmith(args...))
	return status, strings.TrimSpace(said)
}

// must is do for a command that must succeed.
func (p *place) must(args ...string) string {
	p.t.Helper()
	status, said := p.do(args...)
	if status != 0 {
		p.t.Errorf("%q: exit status %d\n%s", args, status, said)
	}
	return said
}

// succeeds runs a command, however long it waits for its turn.
func (p *place) succeeds(cmd *exec.Cmd) {
	p.t.Helper()
	running := lab.Start(p.t, cmd)
	<-running.Ended()
	running.Exits(0)
}

// guarded returns a command that runs under the lock and writes down when it had the lock.
func (p *place) guarded(log *contest.Log, mode string, work time.Duration, flags ...string) *exec.Cmd {
	p.t.Helper()
	return p.under(flags, contest.Witness(p.t, log, mode, work)...)
}

// under returns a command that runs under the lock.
func (p *place) under(flags []string, command ...string) *exec.Cmd {
	p.t.Helper()
	return p.locksmith(slices.Concat([]string{"run"}, flags, []string{p.address(), "--"}, command)...)
}

// hold starts a helper for the lock.
func (p *place) hold(flags ...string) *lab.Helper {
	p.t.Helper()
	return lab.Hold(p.t, p.locksmith(append(append([]string{"hold"}, flags...), p.address())...))
}

// wait starts a helper for a held lock, and returns once the helper is known to wait.
func (p *place) wait(flags ...string) *lab.Helper {
	p.t.Helper()
	return lab.Waiting(p.t, p.hold, flags...)
}

// clean removes what crashed helpers left, as an operator does hours later, and makes sure that
// the lock is then free.
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

// A status is what locksmith status --json says of one lock.
type status struct {
	State   string
	Holders []struct{ ID, Host, Mode string }
	Waiters []struct{ ID, Host, Mode string }
}

// look asks for the status of the lock, without a proxy.
func (p *place) look() status {
	p.t.Helper()
	var all struct{ Locks []status }
	d := p.direct()
	out := d.must("status", "--json", d.address())
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all.Locks) != 1 {
		p.t.Fatalf("status: %v\n%s", err, out)
	}
	return all.Locks[0]
}

// holder returns the id of the only holder, or what there is instead.
func (p *place) holder() string {
	p.t.Helper()
	s := p.look()
	if len(s.Holders) != 1 {
		return fmt.Sprintf("%+v", s)
	}
	return s.Holders[0].ID
}
