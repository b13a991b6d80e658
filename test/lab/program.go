package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
)

// programsVariable names the directory of programs that were built for all tests.
const programsVariable = "LOCKSMITH_TEST_PROGRAMS"

// programs are those that this test binary has built.
var programs struct {
	sync.Mutex
	dir   string // "" but while Main runs the tests
	built map[string]error
}

// Program returns the path of a program by its package's path in this module:
// "cmd/locksmith". TestMain must be Main, which removes what was built.
func Program(t T, pkg string) string {
	t.Helper()
	name := path.Base(pkg)
	if ready := filepath.Join(os.Getenv(programsVariable), name); filepath.IsAbs(ready) {
		if _, err := os.Stat(ready); err == nil {
			return ready
		}
	}
	programs.Lock()
	defer programs.Unlock()
	if programs.dir == "" {
		t.Fatalf("TestMain does not call lab.Main")
	}
	program := filepath.Join(programs.dir, name)
	err, tried := programs.built[pkg]
	if !tried {
		err = build(program, pkg)
		programs.built[pkg] = err
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return program
}

func build(program, pkg string) error {
	cmd := exec.Command("go", "build", "-o", program, "locksmith/"+pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// makePrograms makes the directory for what is built, which other users reach, too.
func makePrograms() (remove func(), err error) {
	dir, err := os.MkdirTemp("", "programs-")
	if err != nil {
		return nil, err
	}
	programs.dir, programs.built = dir, map[string]error{}
	return func() { _ = os.RemoveAll(dir) }, os.Chmod(dir, 0o755)
}
