package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"testing"
)

// programsVariable names the directory of programs that were built for all tests.
const programsVariable = "LOCKSMITH_TEST_PROGRAMS"

// programs are those that this test binary has built.
var programs struct {
	sync.Mutex
	removed bool   // Main removes them at the end
	dir     string // "": nothing was built
	built   map[string]error
}

// Program returns the path of a program by its package's path in this module:
// "cmd/locksmith". TestMain must be Main, which removes what was built. With -short it leaves
// the test out.
func Program(t T, pkg string) string {
	t.Helper()
	if tb, isTest := t.(testing.TB); isTest {
		NotShort(tb, "it starts programs of ours")
	}
	name := path.Base(pkg)
	if ready := filepath.Join(os.Getenv(programsVariable), name); filepath.IsAbs(ready) {
		if _, err := os.Stat(ready); err == nil {
			return ready
		}
	}
	programs.Lock()
	defer programs.Unlock()
	program, err := built(pkg)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return program
}

func built(pkg string) (program string, err error) {
	if !programs.removed {
		return "", errors.New("TestMain does not call lab.Main")
	}
	if programs.dir == "" {
		if err := makeDir(); err != nil {
			return "", err
		}
	}
	program = filepath.Join(programs.dir, path.Base(pkg))
	err, tried := programs.built[pkg]
	if !tried {
		err = build(program, pkg)
		programs.built[pkg] = err
	}
	return program, err
}

// makeDir makes a directory that other users reach, too.
func makeDir() error {
	dir, err := os.MkdirTemp("", "programs-")
	if err != nil {
		return err
	}
	programs.dir, programs.built = dir, map[string]error{}
	return os.Chmod(dir, 0o755)
}

func build(program, pkg string) error {
	cmd := exec.Command("go", "build", "-o", program, "locksmith/"+pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

func removePrograms() {
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
}
