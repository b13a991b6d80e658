package cli

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/request"
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

// forPeople makes a pipe tell people what happens: everything if no program reads its lines, and
// else only the wait.
func forPeople(o *request.Options, h *locksmith.Helper, w locksmith.Watch, p *locksmith.Pipe, out *term.Messages) pipeClient {
	if w.ParentPipe() || !term.Is(os.Stderr) {
		return &tellingPipe{p, newWaitLine(o, h, nil, out)}
	}
	return &manualHold{tellingPipe{p, newWaitLine(o, h, os.Stderr, out)}, h.Request.Owner.MaxHold, out, o.Quiet}
}

// newWaitLine returns the line that tells people of a wait. For programs that read our log it
// makes entries, and it is nil if nobody wants to know. terminal is where it may be drawn.
// --quiet still tells of a wait that has no limit and that nothing is going to end.
func newWaitLine(o *request.Options, h *locksmith.Helper, terminal *os.File, out *term.Messages) *show.WaitLine {
	endless := h.Timeout < 0 && h.Tries == 0
	if !h.Log.IsWarn() || o.Quiet && !endless {
		return nil
	}
	if o.LogsJSON() {
		terminal, out = nil, &term.Messages{Out: h.Log.StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Info})}
	}
	line := show.NewWaitLine(terminal, out)
	if o.Quiet {
		line.OnlyStuck()
	}
	return line
}

// A tellingPipe tells people of a wait.
type tellingPipe struct {
	*locksmith.Pipe
	line *show.WaitLine
}

// Waiting implements locksmith.Client.
func (t *tellingPipe) Waiting(held *backend.HeldError) { t.line.Show(held) }

// Start implements locksmith.Client.
func (t *tellingPipe) Start(g protocol.Grant) error {
	t.line.Clear()
	return t.Pipe.Start(g)
}

// Finish implements pipeClient.
func (t *tellingPipe) Finish(held time.Duration, err error) {
	t.line.Clear()
	t.Pipe.Finish(held, err)
}

// A manualHold is the Client of a person that holds a lock at a terminal.
type manualHold struct {
	tellingPipe
	most  time.Duration // the longest hold; 0: no limit
	out   *term.Messages
	quiet bool
}

// Start implements locksmith.Client.
func (m *manualHold) Start(g protocol.Grant) error {
	if err := m.tellingPipe.Start(g); err != nil {
		return err
	}
	lock := show.Text(strings.ReplaceAll(g.Lock, "\n", " + "))
	fmt.Fprintf(m.out, "locksmith: %s: held%s; %s\n", lock, until(time.Now(), m.most), howToRelease())
	return nil
}

// Finish implements pipeClient. It tells why there is no lock, unless the person has just read
// the line for parents. A loss is in the log.
func (m *manualHold) Finish(held time.Duration, err error) {
	m.tellingPipe.Finish(held, err)
	if err != nil && held == 0 && !(m.quiet && isHeld(err) && !isStuck(err)) {
		if isOneReader() {
			reportRest(m.out, err)
		} else {
			reportTo(m.out, err)
		}
	}
}

// until says at which time of day, by the wall clock, that duration is over; "" for 0.
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

// howToRelease knows that Ctrl-C does not reach a job in the background, nor one that ignores
// it.
func howToRelease() string {
	if ours, _ := term.Foreground(os.Stderr); ours && !signal.Ignored(syscall.SIGINT) {
		return "Ctrl-C releases it"
	}
	return fmt.Sprintf("kill %d releases it", os.Getpid())
}
