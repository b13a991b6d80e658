package lab

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestMain(m *testing.M) { Main(m, map[string]func() int{"seven": func() int { return 7 }}) }

func sh(script string) *exec.Cmd { return exec.Command("sh", "-c", script) }

func TestProcess(t *testing.T) {
	p := Start(t, sh("echo one; read x; echo two $x; echo oops >&2; cat; printf three; exit 4"))
	p.Expect("one")
	p.Silent(time.Millisecond)
	if _, err := p.Stdin.WriteString("x\n"); err != nil {
		t.Fatal(err)
	}
	if l := p.Line(); l != "two x" {
		t.Errorf("got %q", l)
	}
	p.Stop()
	p.Cont()
	p.LetGo()
	if rest := p.Rest(); len(rest) != 1 || rest[0] != "three" {
		t.Errorf("got %q", rest)
	}
	p.Exits(3, 4)
	if p.Stderr() != "oops\n" {
		t.Errorf("on standard error: %q", p.Stderr())
	}
}

func TestKilled(t *testing.T) {
	p := Start(t, sh("sleep 300 & echo $!; wait"))
	sleep, err := strconv.Atoi(p.Line())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(sleep, syscall.SIGKILL) }()
	p.Stop()
	p.Kill() // sleep, which has the process's outputs, lives on
	p.Exits(-int(syscall.SIGKILL))
}

func TestRun(t *testing.T) {
	if status, said := Run(t, sh("cat; echo a; echo b >&2; exit 3")); status != 3 || said != "a\nb\n" {
		t.Errorf("%d, %q", status, said)
	}
	if status, _ := Run(t, Copy("seven")); status != 7 {
		t.Errorf("a copy exits with %d", status)
	}
}

func TestHelper(t *testing.T) {
	h := Hold(t, sh("echo OK proto=1 id=a; cat; echo BEAT sent_ms=1; echo RELEASED held_ms=5"))
	if id := h.Held().Value("id"); id != "a" {
		t.Errorf("id %q", id)
	}
	if held := h.Release().Value("held_ms"); held != "5" {
		t.Errorf("held_ms %q", held)
	}
}

// A failure is a T that notes why a test would fail.
type failure struct {
	testing.TB
	why string
}

func (f *failure) Fatalf(format string, args ...any) {
	f.why = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// fails returns why a test fails.
func fails(t *testing.T, test func(T)) string {
	t.Helper()
	f, done := &failure{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	return f.why
}

func TestFailures(t *testing.T) {
	for about, c := range map[string]struct {
		test func(T)
		says string
	}{
		"another line":    {func(t T) { Start(t, sh("echo no; echo bad luck >&2; exec sleep 300")).Expect("yes") }, `it says "no", want "yes"; stderr:`},
		"its reason":      {func(t T) { Start(t, sh("echo bad luck >&2")).Line() }, "EOF; stderr:\nbad luck"},
		"another status":  {func(t T) { Start(t, sh("exit 1")).Exits(0) }, "exit status 1, want one of [0]"},
		"not silent":      {func(t T) { Start(t, sh("echo hey")).Silent(Patience) }, `says "hey"`},
		"no such program": {func(t T) { Start(t, exec.Command("/no/such/program")) }, "no such file"},
		"malformed":       {func(t T) { Hold(t, sh("echo ok")).Held() }, "malformed"},
		"half a line":     {func(t T) { Hold(t, sh("printf OK")).Held() }, "unexpected EOF"},
		"not released":    {func(t T) { Hold(t, sh("echo LOST code=gone")).Release() }, "it says LOST"},
	} {
		if why := fails(t, c.test); !strings.Contains(why, c.says) {
			t.Errorf("%s: fails with %q, want %q", about, why, c.says)
		}
	}
}

func TestNoSuchPackage(t *testing.T) {
	NotShort(t, "runs go build")
	if why := fails(t, func(t T) { Program(t, "no/such/package") }); !strings.Contains(why, `"go" "build"`) {
		t.Errorf("fails with %q", why)
	}
}

func TestEventually(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		Eventually(t, "the third look", func() bool { looks++; return looks == 3 })
		why := fails(t, func(t T) {
			Eventually(t, "a miracle", func() bool { return false }, func() string { return "there is none" })
		})
		if !strings.Contains(why, "a miracle\nthere is none") {
			t.Errorf("fails with %q", why)
		}
	})
}

func TestProgram(t *testing.T) {
	NotShort(t, "builds a program")
	first := Program(t, "test/bench/floor")
	if again := Program(t, "test/bench/floor"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	dir := t.TempDir()
	t.Setenv(programsVariable, dir)
	if p := Program(t, "test/bench/floor"); p != first {
		t.Errorf("%s is not there", p)
	}
	if err := os.WriteFile(dir+"/floor", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if p := Program(t, "test/bench/floor"); p != dir+"/floor" {
		t.Errorf("%s was built again", p)
	}
}
