//go:build linux && amd64

package crash

import (
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"

	"locksmith/test/lab"
)

// locksmith returns a command of locksmith, with the environment of the place.
func (p *place) locksmith(args ...string) *exec.Cmd {
	cmd := exec.Command(lab.Program(p.t, "cmd/locksmith"), p.arguments(args)...)
	cmd.Env = append(os.Environ(), p.env...)
	return cmd
}

// arguments are these without a lease, where the lock has none.
func (k kind) arguments(all []string) []string {
	if i := slices.Index(all, "--lease"); i >= 0 && k.isKernels() {
		return slices.Delete(slices.Clone(all), i, i+2)
	}
	return all
}

// do runs a command of locksmith to its end.
func (p *place) do(args ...string) (status int, said string) {
	p.t.Helper()
	return lab.Run(p.t, p.locksmith(args...))
}

// hold starts a helper for the lock of a place. Its parent is this test.
func (p *place) hold(flags ...string) *lab.Helper {
	p.t.Helper()
	return lab.Hold(p.t, p.locksmith(append(append([]string{"hold"}, flags...), p.at)...))
}

// A witness counts who has the lock.
type witness struct{ inside atomic.Int32 }

// enter reports whether nobody else was inside.
func (w *witness) enter() bool { return w.inside.Add(1) == 1 }
func (w *witness) leave()      { w.inside.Add(-1) }

func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) } // it may have ended
