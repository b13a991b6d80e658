//go:build unix

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"locksmith/backends/process"
	"locksmith/test/lab"
)

const nobody = 65534

// A story is a script that processes are started for.
type story struct{ *testscript.TestScript }

func (story) Helper()            {}
func (s story) Cleanup(f func()) { s.Defer(f) }

type jobsKey struct{}

func setup(env *testscript.Env) error {
	env.Values[jobsKey{}] = map[string]*lab.Process{}
	// Let other users in, for stories about permissions.
	for _, dir := range []string{env.WorkDir, filepath.Dir(env.WorkDir)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

func condition(name string) (bool, error) {
	if name == "root" {
		return os.Getuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

func jobs(ts *testscript.TestScript) map[string]*lab.Process {
	return ts.Value(jobsKey{}).(map[string]*lab.Process)
}

func findJob(ts *testscript.TestScript, name string) *lab.Process {
	j := jobs(ts)[name]
	if j == nil {
		ts.Fatalf("no job %q was started", name)
	}
	return j
}

func needArgs(ts *testscript.TestScript, neg, ok bool, usage string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// command runs with the configuration in the story's directory, not with the tester's own.
func command(ts *testscript.TestScript, argv []string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = ts.MkAbs(".")
	work := ts.Getenv("WORK")
	cmd.Env = append(os.Environ(), "WORK="+work, "PWD="+cmd.Dir, "HOME="+work, "XDG_CONFIG_HOME="+work)
	return cmd
}

// exits [-nobody] STATUS PROGRAM [ARG…] runs a program that must end with exit status STATUS.
// Its input is /dev/null. With -nobody it is locksmith, run as a user whom permissions bind.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	unprivileged := len(args) > 0 && args[0] == "-nobody"
	if unprivileged {
		args = args[1:]
	}
	needArgs(ts, neg, len(args) >= 2, "exits [-nobody] STATUS PROGRAM [ARG…]")
	cmd := command(ts, args[1:])
	if unprivileged && os.Getuid() == 0 {
		// Not by its path, parts of which may be closed to that user.
		cmd.Path, cmd.Err = "/proc/self/exe", nil
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = lab.Null(story{ts}), ts.Stdout(), ts.Stderr()
	cmd.WaitDelay = lab.Patience // for what the program leaves running
	mustExit(ts, args[1], lab.Start(story{ts}, cmd), args[0])
}

// mustExit waits for the end of a program. An end by a signal counts as in a shell.
func mustExit(ts *testscript.TestScript, who string, p *lab.Process, want string) {
	got := p.Status()
	if got < 0 {
		got = 128 - got
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("%s exited with status %d, want %s", who, got, want)
	}
}

// start NAME PROGRAM [ARG…] starts a job. Its output goes to NAME.out and NAME.err, its pid to
// NAME.pid, and its input is a pipe; see letgo.
func start(ts *testscript.TestScript, neg bool, args []string) {
	needArgs(ts, neg, len(args) >= 2, "start NAME PROGRAM [ARG…]")
	name := args[0]
	cmd := command(ts, args[1:])
	stdout, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	j := lab.Start(story{ts}, cmd)
	ts.Check(os.WriteFile(ts.MkAbs(name+".pid"), []byte(strconv.Itoa(j.PID())), 0o644))
	jobs(ts)[name] = j
}

// letgo NAME closes a job's input.
func letGo(ts *testscript.TestScript, neg bool, args []string) {
	needArgs(ts, neg, len(args) == 1, "letgo NAME")
	findJob(ts, args[0]).LetGo()
}

// ended NAME STATUS waits for a job's end.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	needArgs(ts, neg, len(args) == 2, "ended NAME STATUS")
	j := findJob(ts, args[0])
	j.Status()
	ts.Logf("%s", ts.ReadFile(args[0]+".err"))
	mustExit(ts, args[0], j, args[1])
}

// signal SIGNAL PIDFILE
func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	needArgs(ts, neg, len(args) == 2, "signal SIGNAL PIDFILE")
	s := unix.SignalNum(args[0])
	if s == 0 {
		ts.Fatalf("unknown signal %s", args[0])
	}
	ts.Check(unix.Kill(readPID(ts, args[1]), s))
}

func readPID(ts *testscript.TestScript, file string) int {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(file)))
	ts.Check(err)
	return pid
}

// await FILE REGEXP waits until a file is there and matches.
func await(ts *testscript.TestScript, neg bool, args []string) {
	needArgs(ts, neg, len(args) == 2, "await FILE REGEXP")
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	lab.Eventually(story{ts}, args[0]+" matches "+args[1], func() bool {
		raw, err := os.ReadFile(path)
		return err == nil && re.Match(raw)
	})
}

// gone FILE waits until a file is removed.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	needArgs(ts, neg, len(args) == 1, "gone FILE")
	path := ts.MkAbs(args[0])
	lab.Eventually(story{ts}, args[0]+" is removed", func() bool {
		_, err := os.Lstat(path)
		return errors.Is(err, os.ErrNotExist)
	})
}

// dead PIDFILE waits until a process has ended.
func dead(ts *testscript.TestScript, neg bool, args []string) {
	needArgs(ts, neg, len(args) == 1, "dead PIDFILE")
	p := process.Process{PID: readPID(ts, args[0])}
	lab.Eventually(story{ts}, args[0]+" has ended", p.Gone)
}

// json PATH VALUE checks a value in the JSON document on the last standard output:
// "locks.0.state" "held". With "!" the value must not be there at all.
func jsonIs(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || !neg && len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE, or ! json PATH")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &value))
	ok := true
	for step := range strings.SplitSeq(args[0], ".") {
		if value, ok = descend(value, step); !ok {
			break
		}
	}
	switch {
	case neg && ok:
		ts.Fatalf("%s is there: %v", args[0], value)
	case !neg && (!ok || fmt.Sprint(value) != args[1]):
		ts.Fatalf("%s is %v, want %s", args[0], value, args[1])
	}
}

func descend(value any, step string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		inner, ok := v[step]
		return inner, ok
	case []any:
		n, err := strconv.Atoi(step)
		if err != nil || n < 0 || n >= len(v) {
			return nil, false
		}
		return v[n], true
	}
	return nil, false
}

// pause DURATION lets time pass, for leases to run out.
func pause(ts *testscript.TestScript, neg bool, args []string) {
	needArgs(ts, neg, len(args) == 1, "pause DURATION")
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	time.Sleep(d)
}
