package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// programsVariable names the directory of programs that were built for all tests.
const programsVariable = "LOCKSMITH_TEST_PROGRAMS"

// programs are the programs that this test binary has built.
var programs struct {
	sync.Mutex
	removed bool   // Main removes them at the end
	dir     string // "": nothing was built
	built   map[string]error
}

// Program returns the path of a program, given its package's path in this module:
// "cmd/locksmith". TestMain must be Main, which removes what was built. With -short it skips the
// test.
func Program(t T, pkg string) string {
	t.Helper()
	if tb, isTest := t.(testing.TB); isTest {
		NotShort(tb, "it starts programs of ours")
	}
	name := path.Base(pkg)
	if ready := built(name); ready != "" {
		return ready
	}
	return once(t, name, pkg, func(program string) error {
		cmd := exec.Command("go", "build", "-o", program, "locksmith/"+pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		return explained(cmd)
	})
}

// built returns the path of a program that was built for all tests, or "".
func built(name string) string {
	ready := filepath.Join(os.Getenv(programsVariable), name)
	if _, err := os.Stat(ready); err != nil || !filepath.IsAbs(ready) {
		return ""
	}
	return ready
}

// ModuleProgram returns the path of a program of another module below the root of this one.
// folder is the module's folder. pkg is the package's path: "." or a package that its go.mod
// requires. A machine that cannot get or compile the module lacks the program.
func ModuleProgram(t testing.TB, folder, pkg string) string {
	t.Helper()
	NotShort(t, "it compiles programs of others")
	if ready := built(path.Base(folder)); ready != "" {
		return ready
	}
	return once(lacking{t}, path.Base(folder), folder, func(program string) error {
		root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "locksmith").Output()
		if err != nil {
			return err
		}
		// Leave out what only debuggers need: linking it takes seconds.
		cmd := exec.Command("go", "build", "-C", filepath.Join(strings.TrimSpace(string(root)), folder), "-ldflags=-s -w", "-o", program, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		return explained(cmd)
	})
}

// lacking is a test that is skipped where it would fail.
type lacking struct{ testing.TB }

func (l lacking) Fatalf(format string, args ...any) {
	l.Helper()
	Lacking(l.TB, fmt.Sprintf(format, args...))
}

// CompileC returns the program that a file in C makes. Warnings are errors.
func CompileC(t T, file string) string {
	t.Helper()
	return once(t, filepath.Base(file)+".program", file, func(program string) error {
		return explained(exec.Command("cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program, file))
	})
}

// once makes a program, unless this test binary has made it, and returns its path.
func once(t T, name, source string, build func(program string) error) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if err := makeDir(); err != nil {
		t.Fatalf("%v", err)
	}
	program := filepath.Join(programs.dir, name)
	err, tried := programs.built[source]
	if !tried {
		if err = build(program); err == nil {
			err = os.Chmod(program, 0o755) // other users run it, too, whatever the umask is
		}
		programs.built[source] = err
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return program
}

func explained(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%q: %w\n%s", cmd.Args, err, out)
	}
	return nil
}

// makeDir makes the directory of programs, if there is none. Other users can reach it, too.
func makeDir() (err error) {
	if !programs.removed {
		return errors.New("TestMain does not call lab.Main")
	}
	if programs.dir != "" {
		return nil
	}
	programs.built = map[string]error{}
	if programs.dir, err = os.MkdirTemp("", "programs-"); err != nil {
		return err
	}
	return os.Chmod(programs.dir, 0o755)
}

func removePrograms() {
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
}
