package wine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/test/lab"
)

// A machine is a Wine prefix with our programs on its drive C.
type machine struct {
	t      *testing.T
	prefix string
}

// newMachine makes one.
func newMachine(t *testing.T) *machine {
	t.Helper()
	lab.NotShort(t, "builds programs for Windows")
	lab.NeedProgram(t, "wine") // apt-get install --no-install-recommends wine wine64
	m := &machine{t: t, prefix: filepath.Join(t.TempDir(), "prefix")}
	t.Cleanup(func() { _ = m.command("wineserver", "--kill", "--wait").Run() }) // of this prefix alone
	m.must(m.command("wineboot", "--init"))
	library := m.drive("windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(library); err != nil {
		if err := os.WriteFile(library, randomLibrary(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m *machine) drive(names ...string) string {
	return filepath.Join(append([]string{m.prefix, "drive_c"}, names...)...)
}

func (m *machine) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "WINEPREFIX="+m.prefix, "WINEDEBUG=-all", "DISPLAY=")
	cmd.WaitDelay = time.Second
	return cmd
}

// output runs a command to its end. What Wine has started besides may keep its pipe.
func (m *machine) output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return string(out), err
}

func (m *machine) must(cmd *exec.Cmd) {
	m.t.Helper()
	if out, err := m.output(cmd); err != nil {
		m.t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// wine runs a program on drive C.
func (m *machine) wine(program string, args ...string) *exec.Cmd {
	return m.command("wine", append([]string{m.drive(program)}, args...)...)
}

// install builds a program, or with "test" the tests of a package, for drive C.
func (m *machine) install(name, pkg string, how ...string) {
	m.t.Helper()
	cmd := exec.Command("go", append(how, "-o", m.drive(name), pkg)...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

func (m *machine) exists(name string) bool {
	_, err := os.Stat(m.drive(name))
	return err == nil
}

func (m *machine) eventually(what string, holds func() bool) {
	m.t.Helper()
	lab.Eventually(m.t, what, holds)
}

func TestWine(t *testing.T) {
	m := newMachine(t)
	m.install("locksmith.exe", "./cmd/locksmith", "build")
	m.install("parent.exe", "./test/wine/parent", "build")
	for name, test := range map[string]func(*testing.T, *machine){
		"run": testRun, "parent": testParent, "command dies with us": testCommandDiesWithUs, "packages": testPackages,
	} {
		t.Run(name, func(t *testing.T) { test(t, &machine{t, m.prefix}) })
	}
}

func testRun(t *testing.T, m *machine) {
	for _, c := range []struct {
		args []string
		want string
		exit int
	}{
		{[]string{"version"}, "windows/amd64", 0},
		{[]string{"status", "local:C:/a.lock"}, "local:/C:/a.lock: free", 0},
		{[]string{"run", `local:C:\a.lock`, "--", `C:\locksmith.exe`, "status", "local:/C:/a.lock"}, "held by", 0},
		{[]string{"run", "local:C:/a.lock", "--", "cmd", "/c", "exit 7"}, "", 7},
		{[]string{"run", "local:C:/a.lock", "--", `C:\locksmith.exe`, "run", "--timeout", "0", "local:C:/a.lock", "--", "cmd"}, "held by", 75},
		{[]string{"run", "local:/a.lock", "--", "cmd"}, "names no drive", 73},
		{[]string{"run", "local:C:/none/a.lock", "--", "cmd"}, "create the directory first", 73},
		{[]string{"run", "mkdir:C:/a", "--", "cmd"}, "mkdir: is not supported on windows", 73},
		{[]string{"run", "nfs:C:/a", "--", "cmd"}, "nfs: is not supported on windows", 73},
		{[]string{"run", "link:C:/a", "--", "cmd"}, "link: is not supported on windows", 73},
	} {
		cmd := m.wine("locksmith.exe", c.args...)
		out, _ := m.output(cmd)
		if got := cmd.ProcessState.ExitCode(); got != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit status %d, want %d and %q:\n%s", c.args, got, c.exit, c.want, out)
		}
		if m.exists("a.lock") {
			t.Errorf("%v leaves its lock behind", c.args)
		}
	}
}

// testParent: a helper lets go when its parent closes its standard input, reads its
// output no more, or is killed.
func testParent(t *testing.T, m *machine) {
	for _, how := range []string{"closes", "unread", "dies"} {
		t.Run(how, func(t *testing.T) {
			m := &machine{t, m.prefix}
			held, lock := how+".held", how+".lock"
			parent := lab.Start(t, m.wine("parent.exe", how, `C:\locksmith.exe`, "local:C:/"+lock, `C:\`+held))
			m.eventually("the lock is held", func() bool {
				text, _ := os.ReadFile(m.drive(held))
				return strings.HasPrefix(string(text), "OK ")
			})
			if how == "dies" {
				m.must(m.command("wine", "taskkill", "/f", "/im", "parent.exe"))
			}
			m.eventually("the lock is released", func() bool { return !m.exists(lock) })
			if status := parent.Status(); status != 0 && how != "dies" {
				t.Errorf("the parent: status %d\n%s", status, parent.Stderr())
			}
		})
	}
}

// testCommandDiesWithUs: what run started ends when run is killed.
func testCommandDiesWithUs(t *testing.T, m *machine) {
	// The command holds another lock for as long as it runs.
	run := lab.Start(t, m.wine("locksmith.exe", "run", "local:C:/outer.lock", "--", `C:\parent.exe`, "dies", `C:\locksmith.exe`, "local:C:/inner.lock", `C:\inner.held`))
	m.eventually("both locks are held", func() bool { return m.exists("outer.lock") && m.exists("inner.lock") })
	m.eventually("the command runs", func() bool {
		text, _ := os.ReadFile(m.drive("inner.held"))
		return strings.HasPrefix(string(text), "OK ")
	})
	pid, err := os.ReadFile(m.drive("outer.lock"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(pid), "\n")
	m.must(m.command("wine", "taskkill", "/f", "/pid", first))
	m.eventually("the command has ended", func() bool {
		out, _ := m.output(m.command("wine", "tasklist"))
		return !strings.Contains(out, "parent.exe") && !strings.Contains(out, "locksmith.exe")
	})
	run.Status()
}
