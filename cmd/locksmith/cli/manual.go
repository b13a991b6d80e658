package cli

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// A pipeClient is a Client that writes the last line, too.
type pipeClient interface {
	locksmith.Client
	Finish(held time.Duration, err error)
}

// forPeople makes a pipe tell people what happens, if no program reads its lines.
// most is for how long the lock is held at most; 0: no limit.
func forPeople(w locksmith.Watch, p *locksmith.Pipe, most time.Duration, out *term.Messages) pipeClient {
	if !term.Is(os.Stderr) || w.ParentPipe() {
		return p
	}
	return &manualHold{p, most, show.NewWaitLine(os.Stderr, out), out}
}

// A manualHold is the Client of a person that holds a lock at a terminal.
type manualHold struct {
	*locksmith.Pipe
	most time.Duration
	line *show.WaitLine
	out  *term.Messages
}

// Waiting implements locksmith.Client.
func (m *manualHold) Waiting(held *backend.HeldError) { m.line.Show(held) }

// Start implements locksmith.Client.
func (m *manualHold) Start(g protocol.Grant) error {
	m.line.Clear()
	if err := m.Pipe.Start(g); err != nil {
		return err
	}
	lock := show.Text(strings.ReplaceAll(g.Lock, "\n", " + "))
	fmt.Fprintf(m.out, "locksmith: %s: held%s; %s\n", lock, until(time.Now(), m.most), howToRelease())
	return nil
}

// Finish implements pipeClient: it tells why the lock was not got. A loss has been
// logged.
func (m *manualHold) Finish(held time.Duration, err error) {
	m.line.Clear()
	m.Pipe.Finish(held, err)
	if err != nil && held == 0 {
		reportTo(m.out, err)
	}
}

// until says at which time of day, by the wall clock, that duration will be over; "" for 0.
func until(now time.Time, most time.Duration) string {
	if most == 0 {
		return ""
	}
	end, layout := now.Add(most), "15:04:05"
	if end.Sub(now) >= 12*time.Hour {
		layout = "Mon 2 Jan 15:04"
	}
	return " until " + end.Format(layout)
}

// howToRelease knows that Ctrl-C does not reach a job in the background, nor one that
// ignores it.
func howToRelease() string {
	if ours, _ := term.Foreground(os.Stderr); ours && !signal.Ignored(syscall.SIGINT) {
		return "Ctrl-C releases it"
	}
	return fmt.Sprintf("kill %d releases it", os.Getpid())
}
