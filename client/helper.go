package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"locksmith/protocol"
)

// A helper is a running locksmith.
type helper struct {
	cmd     *exec.Cmd
	program []string // its command line, without the arguments of hold
	itself  bool     // it is this process's program
	stdin   *os.File
	stdout  *os.File
	begun   time.Time     // when it was asked for the lock
	lines   chan reading  // closed after the first error
	exited  chan struct{} // closed when the process is gone
	killed  atomic.Bool   // it did not end in time; that is the reason, whatever the pipe says after that
	died    atomic.Bool   // it ended without a last line
	grace   time.Duration
	serving *serving // nil: the process is for this lock alone
}

// A reading is one line from the helper, or why there are no more.
type reading struct {
	line protocol.Line
	err  error
}

// singleproc has a helper start with the one processor that it goes on with. To give up others
// later takes memory, most of all in a program that is its own helper.
const singleproc = "GOMAXPROCS=1"

// start starts a helper. lock is what messages call the lock.
func (c *config) start(ctx context.Context, lock string) (*helper, error) {
	args := slices.Concat(c.args, c.waitFlags())
	if c.fake != nil {
		return c.pretend(lock, args)
	}
	args = slices.Concat(args, []string{"--"}, c.locks)
	if h := c.seat(ctx, args); h != nil {
		return h, nil
	}
	cmd, err := c.find(lock)
	if err != nil {
		return nil, err
	}
	// --parent: if this process dies before the helper looks, the helper sees that.
	// --stdin watch: its standard input is a pipe made for it.
	usual := []string{"hold", "--parent", strconv.Itoa(os.Getpid()), "--stdin", "watch", "--beats"}
	if c.log != nil {
		usual = append(usual, "--log-format", "json", "--log-level", lowest(c.log))
	}
	cmd.Env = append(cmd.Environ(), singleproc)
	h := &helper{cmd: cmd, program: cmd.Args, itself: c.isItself(), lines: make(chan reading, 1), exited: make(chan struct{}), grace: c.grace}
	cmd.Args = slices.Concat(cmd.Args, usual, args)
	if err := h.spawn(c.log); err != nil {
		return nil, notStarted(lock, err)
	}
	return h, nil
}

// notStarted is the error of a helper that could not be started, because there is none, or for a
// reason that may pass.
func notStarted(lock string, err error) error {
	code, hint := protocol.Internal, ""
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s: acquire: %w: %w", lock, ErrNoHelper, err)
	case errors.Is(err, syscall.E2BIG):
		code, hint = protocol.Usage, "shorten the metadata, or name fewer locks"
	case errors.Is(err, syscall.EMFILE):
		hint = "raise the limit of open files (ulimit -n), or acquire fewer locks at a time: each takes two of this process"
	case errors.Is(err, syscall.ENFILE):
		hint = "the system has no file for it: try again later"
	case errors.Is(err, syscall.EAGAIN):
		hint = "raise the limit of processes (ulimit -u, or pids.max of the cgroup), or acquire fewer locks at a time: each takes one"
	default:
		hint = "try again later"
	}
	return &HelperError{Lock: lock, Code: code, Text: fmt.Sprintf("%s: acquire: start the helper: %v; %s", lock, err, hint), Err: err}
}

func (h *helper) spawn(log *slog.Logger) error {
	input, stdin, err := os.Pipe()
	if err != nil {
		return err
	}
	defer input.Close()
	stdout, output, err := os.Pipe()
	if err != nil {
		_ = stdin.Close()
		return err
	}
	defer output.Close()
	h.cmd.Stdin, h.cmd.Stdout, h.stdin, h.stdout = input, output, stdin, stdout
	h.cmd.WaitDelay = time.Second // for log lines of processes that outlive the helper
	var logs *relogger
	if log != nil {
		logs = &relogger{to: log}
		h.cmd.Stderr = logs
	}
	h.begun = time.Now()
	if err := h.cmd.Start(); err != nil {
		_, _ = stdin.Close(), stdout.Close()
		return err
	}
	go h.read()
	go func() {
		_ = h.cmd.Wait() // its last line says more than its status
		if logs != nil {
			logs.finish()
		}
		close(h.exited)
	}()
	return nil
}

func (h *helper) read() {
	defer h.stdout.Close()
	defer close(h.lines)
	r := protocol.NewReader(h.stdout)
	for {
		line, err := r.Read()
		h.lines <- reading{line, err}
		if err != nil {
			return
		}
	}
}

// isTooSoon waits for the exit of a helper that has released its lock, and reports whether it did so
// before this program let go: its status is 79 then, or 128 and more if the reason was a signal. A
// helper of a pool does not exit, and says so in its line (IsEarly).
func (h *helper) isTooSoon() bool {
	if h.serving != nil {
		return false
	}
	select {
	case <-h.exited:
	case <-time.After(h.grace):
		return false
	}
	const lastSignal = 64
	status := h.cmd.ProcessState.ExitCode() // -1 if there was no process
	return status == protocol.Gone.Exit() || status > protocol.BySignal && status < protocol.BySignal+lastSignal
}

// kill ends the helper's process, if it has one.
func (h *helper) kill() {
	if h.cmd.Process != nil {
		_ = h.cmd.Process.Kill()
	}
}

// pretend starts what takes the place of a helper in a test.
func (c *config) pretend(lock string, args []string) (*helper, error) {
	h := &helper{cmd: &exec.Cmd{Args: []string{"a fake of a test"}}, lines: make(chan reading, 1), exited: make(chan struct{}), grace: c.grace}
	input, stdin, err := os.Pipe()
	if err != nil {
		return nil, notStarted(lock, err)
	}
	stdout, output, err := os.Pipe()
	if err != nil {
		_, _ = input.Close(), stdin.Close()
		return nil, notStarted(lock, err)
	}
	h.stdin, h.stdout = stdin, stdout
	go h.read()
	go func() {
		defer close(h.exited)
		c.fake(args, slices.Clone(c.locks), input, output)
		_, _ = output.Close(), input.Close()
	}()
	return h, nil
}

// end tells the helper that the lock is not wanted any more, and waits for its exit. It kills a
// helper that does not exit within the grace, also one that is stopped. Another goroutine must be
// reading h.lines.
func (h *helper) end(grace time.Duration) {
	h.letGo()
	late := time.Now().Add(grace)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-h.exited:
		// A process that a wrapper left running may still write to the pipe.
		h.hurry(late)
		return
	case <-timer.C:
	}
	h.killed.Store(true)
	h.kill()
	// A wrapper's child may keep the pipe open, and a wrapper of another user cannot be killed.
	// So wait for neither.
	_ = h.stdout.SetReadDeadline(time.Now())
	select {
	case <-h.exited:
	case <-time.After(2 * time.Second):
	}
}

// lastWords is how long a call that is over waits for what its helper still says, and for its exit.
const lastWords = time.Second / 4

// part has the helper end behind the call, and waits for its exit until it is late. It reports
// whether the helper has ended.
func (h *helper) part(late <-chan time.Time) bool {
	go h.end(h.grace)
	select {
	case <-h.exited:
		return true
	case <-late:
		return false
	}
}

// dismiss ends a helper before its first line, behind the call. It returns that line, if it comes at
// once, and whether the helper has ended.
func (h *helper) dismiss() (first protocol.Line, ended bool) {
	said := make(chan protocol.Line, 1)
	go func() {
		said <- (<-h.lines).line
		h.discard()
	}()
	late := time.After(lastWords)
	if ended = h.part(late); !ended {
		select {
		case first = <-said:
		default:
		}
		return first, false
	}
	select { // a process that a wrapper left running may keep the pipe open
	case first = <-said:
	case <-late:
	}
	return first, true
}

// fate is what became of the helper's process.
func (h *helper) fate() string {
	if h.serving != nil {
		return h.serving.worker.process.fate()
	}
	select {
	case <-h.exited:
		return h.cmd.ProcessState.String()
	default:
		return "it runs on, or its output is somebody else's"
	}
}

// discard reads the helper's lines to the end, so that the helper never blocks.
func (h *helper) discard() {
	for range h.lines {
	}
}

func (h *helper) String() string { return strings.Join(h.cmd.Args, " ") }
