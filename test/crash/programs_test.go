//go:build linux && amd64

package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// programs are built once: locksmith, without the race detector, which makes calls of
// its own.
var programs = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "crash-"); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", dir+"/", "locksmith/cmd/locksmith")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

func removePrograms() {
	if dir, _ := programs(); dir != "" {
		_ = os.RemoveAll(dir) // it is in the directory for temporary files
	}
}

// locksmith is where the program is.
func locksmith(t testing.TB) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "locksmith")
}

// do runs a command of locksmith to its end, which must be in time.
func (p *place) do(args ...string) (status int, said string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, locksmith(p.t), args...)
	cmd.Env, cmd.WaitDelay = p.environment(), time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil || cmd.ProcessState == nil {
		p.t.Fatalf("%q: not done within %v: %v\n%s", args, patience, err, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
