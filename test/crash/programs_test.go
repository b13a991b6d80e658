//go:build linux && amd64

package crash

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"locksmith/test/programs"
)

// The race detector makes calls of its own.
var built = programs.Static("locksmith/cmd/locksmith")

func locksmith(t testing.TB) string { t.Helper(); return built.Path(t, "locksmith") }

// do runs a command of locksmith to its end, which must be in time.
func (p *place) do(args ...string) (status int, said string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, locksmith(p.t), args...)
	cmd.Env, cmd.WaitDelay = p.environment(), time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil || cmd.ProcessState == nil {
		p.t.Fatalf("%q: not done within %v: %v\n%s", args, waitLimit, err, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
