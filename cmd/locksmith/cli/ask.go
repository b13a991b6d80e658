package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"locksmith/backends/process"
	"locksmith/locksmith"
	"locksmith/locksmith/child"
	"locksmith/protocol"
)

// A shellAsker asks a line of shell how to wait: run --ask. The line prints an answer as parents of
// hold --ask write it. Without one its status decides, as that of test(1) would: 0 is to wait as
// usual, and 1 to give up.
type shellAsker struct {
	shell    []string
	lock     string
	withhold []string // variables that the line does not get
}

// Listen implements locksmith.Asker: the line speaks only when it is asked.
func (shellAsker) Listen(func()) {}

// Ask implements locksmith.Asker.
func (s shellAsker) Ask(ctx context.Context, r locksmith.Refusal) (locksmith.Answer, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, s.shell[0], s.shell[1:]...)
	cmd.Env = append(child.Environ(s.withhold), s.variables(r)...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, os.Stderr, time.Second
	if err := process.Start(cmd); err != nil {
		return locksmith.Answer{}, &locksmith.AnswerError{From: "the command of --ask", Err: err}
	}
	err := process.Wait(cmd)
	if ctx.Err() != nil {
		return locksmith.Answer{}, ctx.Err()
	}
	failed, _ := errors.AsType[process.Ended](err)
	line, none := protocol.NewReader(bufio.NewReader(&said)).Read()
	switch {
	case none == nil:
		return locksmith.ParseAnswer(line, "the answer of --ask")
	case !errors.Is(none, io.EOF):
		return locksmith.Answer{}, &locksmith.AnswerError{From: "the answer of --ask", Err: none}
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return locksmith.Answer{Usual: true}, nil
	case failed != nil && failed.ExitCode() == 1:
		return locksmith.Answer{Ends: true}, nil
	}
	return locksmith.Answer{}, &locksmith.AnswerError{From: "the command of --ask", Err: err}
}

// variables tell the line of a refusal.
func (s shellAsker) variables(r locksmith.Refusal) []string {
	held := r.Held.Holder
	all := []string{
		"LOCKSMITH_LOCK=" + s.lock, "LOCKSMITH_BUSY=" + protocol.CleanText(r.Held.Error(), protocol.MaxLine),
		"LOCKSMITH_TRIES=" + strconv.Itoa(r.Tries), fmt.Sprintf("LOCKSMITH_WAITED_MS=%d", r.Waited.Milliseconds()),
	}
	if held.PID > 0 {
		all = append(all, "LOCKSMITH_HOLDER_PID="+strconv.Itoa(held.PID))
	}
	if held.Record != nil {
		all = append(all, "LOCKSMITH_HOLDER="+held.Record.ID, "LOCKSMITH_HOLDER_HOST="+held.Record.Place.Host, "LOCKSMITH_HOLDER_USER="+held.Record.User)
	}
	return all
}
