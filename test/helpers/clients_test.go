//go:build unix

package helpers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
	"locksmith/test/lab"
)

// questions are what each client is asked, and the right answer. A program in its language says
// "asks", asks, says what came of it, and ends. It is given the question, a lock, and the name of a file for the
// pid of a helper that freezes.
var questions = []struct {
	name   string
	isHeld bool // another has the lock: for good, or until a moment after the program asks
	until  bool
	right  string
	but    map[string]string // other right answers, as that client's page says; "": the language cannot ask
}{
	{name: "infinite", isHeld: true, until: true, right: "got it"},
	{name: "zero", isHeld: true, right: "held"},
	{name: "negative", isHeld: true, right: "held"},
	{name: "not a number", isHeld: true, right: "refused", but: map[string]string{"go": ""}}, // each time.Duration is a number
	{name: "dropped", right: "held", but: map[string]string{"perl": "free"}},                 // whose objects end with their last reference
	{name: "twice", right: "once"},
	{name: "cancel", isHeld: true, right: "cancelled"},
	{name: "frozen", right: "no answer"},
}

// asking has the command that asks, for each language. Go's is this program.
var asking = map[string][]string{
	"go":     nil,
	"python": {"python3", examples + "clients/python/asked.py"},
	"node":   {"node", examples + "clients/node/asked.mjs"},
	"perl":   {"perl", examples + "clients/perl/asked.pl"},
	"tcl":    {"tclsh", examples + "clients/tcl/asked.tcl"},
}

// TestClients: each client answers each question in the same way.
func TestClients(t *testing.T) {
	t.Parallel()
	lab.NotShort(t, "starts interpreters")
	program := lab.Program(t, "cmd/locksmith")
	for language, command := range asking {
		for _, q := range questions {
			right, differs := q.but[language]
			if !differs {
				right = q.right
			}
			if right == "" {
				continue
			}
			t.Run(language+"/"+q.name, func(t *testing.T) {
				t.Parallel()
				said := ""
				for tries := 0; said == "" || said == "no answer" && right != said && tries < busy; tries++ {
					said = ask(t, program, command, q.name, q.isHeld, q.until)
				}
				if said != right {
					t.Errorf("it says %q, want %q", said, right)
				}
			})
		}
	}
}

// busy is how often a client is asked whose helper has no time to answer, on a busy machine.
const busy = 10

// ask has a program ask a question, and returns what it says came of that.
func ask(t *testing.T, program string, command []string, question string, isHeld, until bool) string {
	dir := t.TempDir()
	lock, pids := filepath.Join(dir, "lock"), filepath.Join(dir, "pids")
	killLater(t, pids)
	cmd := exec.Command("/proc/self/exe")
	if command != nil {
		lab.NeedProgram(t, command[0])
		cmd = exec.Command(command[0], command[1:]...)
	}
	cmd.Args = append(cmd.Args, question, "local:"+lock, pids)
	cmd.Env = append(os.Environ(), lab.RoleVariable+"=asked", "LOCKSMITH="+program, "PYTHONPATH=../../client/python", "PYTHONDONTWRITEBYTECODE=1")
	var other *client.Lock
	if isHeld {
		other = holds(t, program, "local:"+lock)
	}
	p := lab.Start(t, cmd)
	p.Expect("asks")
	if until {
		time.Sleep(300 * time.Millisecond) // in which a client that does not wait would be refused
		if err := other.Release(); err != nil {
			t.Error(err)
		}
	}
	said := p.Line()
	p.Exits(0)
	if !isHeld {
		lab.Eventually(t, "the lock is free after the program's end", func() bool { _, err := os.Stat(lock); return err != nil })
	}
	return said
}

// holds acquires a lock for the test.
func holds(t *testing.T, program, lock string) *client.Lock {
	l, err := client.Acquire(t.Context(), lock, client.Helper(program))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Release() })
	return l
}

// killLater ends a frozen helper whose program ended first.
func killLater(t *testing.T, pids string) {
	t.Cleanup(func() {
		text, _ := os.ReadFile(pids)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// asked is the program for Go.
func asked() int {
	fmt.Println("asks")
	said, err := answer(os.Args[1], os.Args[2], os.Args[3])
	refused, isRefused := errors.AsType[*client.HelperError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		said = "no answer" // yet, of who has the lock
		if held, ok := errors.AsType[*client.HeldError](err); ok && held.Waited >= 300*time.Millisecond {
			said = "cancelled"
		}
	case errors.Is(err, client.ErrHeld):
		said = "held"
	case isRefused && refused.Code == protocol.Unreachable:
		said = "no answer"
	case err != nil:
		said = err.Error()
	}
	fmt.Println(said)
	return 0
}

// answer asks a question of Go's client.
func answer(question, lock, pids string) (string, error) {
	ctx := context.Background()
	switch question {
	case "infinite":
		return gets(ctx, lock, client.Timeout(math.MaxInt64))
	case "zero":
		return gets(ctx, lock, client.Timeout(0))
	case "negative":
		return gets(ctx, lock, client.Timeout(-3*time.Second))
	case "dropped":
		if _, err := client.Acquire(ctx, lock); err != nil {
			return "", err
		}
		runtime.GC()
		_, err := client.Acquire(ctx, lock, client.Timeout(5*time.Second))
		return "free", err
	case "twice":
		l, err := client.Acquire(ctx, lock)
		if err != nil {
			return "", err
		}
		if err := l.Release(); err != nil {
			return "", err
		}
		if err := l.Release(); !errors.Is(err, client.ErrReleased) {
			return "again", err
		}
		return "once", nil
	case "cancel":
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return gets(ctx, lock)
	case "frozen":
		return gets(ctx, lock, client.Timeout(200*time.Millisecond), client.KillAfter(100*time.Millisecond),
			client.Helper("sh", "-c", "echo $$ >"+pids+"; kill -STOP $$; exec sleep 300"))
	}
	return "what?", nil
}

// gets acquires a lock, and gives it back.
func gets(ctx context.Context, lock string, options ...client.Option) (string, error) {
	l, err := client.Acquire(ctx, lock, options...)
	if err != nil {
		return "", err
	}
	return "got it", l.Release()
}
