package client

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/protocol"
)

// A helper is a running locksmith.
type helper struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	lines  chan reading    // closed after the first error
	seen   chan *HeldError // who has the lock, the latest only; nil: it is not told
	exited chan struct{}   // closed when the process is gone
	grace  time.Duration
}

// A reading is one line from the helper, or why there are no more.
type reading struct {
	line protocol.Line
	err  error
}

// frugal lets a helper start with the one processor that it goes on with: it takes memory
// to give up the others later, most of all in a program that is its own helper.
const frugal = "GOMAXPROCS=1"

// start starts a helper that waits as these arguments say, and tells of whom it sees if
// asked to; lock is what messages call it.
func (c *config) start(lock string, patience []string, tell bool) (*helper, error) {
	cmd, err := c.find(lock)
	if err != nil {
		return nil, err
	}
	// Our pid goes along: if we die before the helper looks, it sees that. Its
	// standard input is a pipe made for it, whatever our own may be.
	args := []string{"hold", "--parent", strconv.Itoa(os.Getpid()), "--stdin", "watch", "--beats"}
	if c.logger != nil {
		args = append(args, "--log-format", "json", "--log-level", "debug")
	}
	cmd.Env, cmd.Stderr = append(cmd.Environ(), frugal), os.Stderr
	h := &helper{cmd: cmd, lines: make(chan reading, 1), exited: make(chan struct{}), grace: c.grace}
	if tell {
		told, name, err := h.listenIn(lock)
		if err != nil {
			return nil, fmt.Errorf("%s: acquire: listen to the helper: %w", lock, err)
		}
		defer told.Close()
		args = append(args, "--events", name)
	}
	cmd.Args = slices.Concat(cmd.Args, args, c.args, patience, []string{"--"}, c.locks)
	if err := h.spawn(c.logger); errors.Is(err, syscall.E2BIG) {
		return nil, &HelperError{Lock: lock, Code: protocol.Usage,
			Text: fmt.Sprintf("%s: acquire: start the helper: %v; shorten the metadata, or name fewer locks", lock, err)}
	} else if err != nil {
		return nil, fmt.Errorf("%s: acquire: %w: %w", lock, ErrNoHelper, err)
	}
	return h, nil
}

func (h *helper) spawn(logger hclog.Logger) error {
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
	h.cmd.WaitDelay = time.Second // for log lines of what outlives it
	var logs *relogger
	if logger != nil {
		logs = &relogger{logger: logger}
		h.cmd.Stderr = logs
	}
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

// end tells the helper that the lock is not wanted and waits for its exit; only
// when it does not come in time is the helper killed. It reports whether the
// helper ended by itself. Somebody must be reading h.lines.
func (h *helper) end() bool {
	_ = h.stdin.Close()
	late := time.Now().Add(h.grace)
	timer := time.NewTimer(h.grace)
	defer timer.Stop()
	select {
	case <-h.exited:
		// What a wrapper left running may have the pipe, and say its last yet.
		_ = h.stdout.SetReadDeadline(late)
		return true
	case <-timer.C:
	}
	_ = h.cmd.Process.Kill()
	// A wrapper's child may live on with the pipe, or the wrapper be another
	// user's: neither may hold us up.
	_ = h.stdout.SetReadDeadline(time.Now())
	select {
	case <-h.exited:
	case <-time.After(2 * time.Second):
	}
	return false
}

// dismiss ends a helper before its first line, and returns that, if it comes yet, and
// whether the helper ended by itself.
func (h *helper) dismiss() (first protocol.Line, inTime bool) {
	said := make(chan protocol.Line, 1)
	go func() {
		said <- (<-h.lines).line
		h.discard()
	}()
	inTime = h.end()
	return <-said, inTime
}

// discard reads what the helper still says, so that it never blocks on us.
func (h *helper) discard() {
	for range h.lines {
	}
}

func (h *helper) String() string { return strings.Join(h.cmd.Args, " ") }
