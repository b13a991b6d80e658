// Package child is run's command. The command runs while a lock is held.
//
// Promised: the command stays in our process group, gets the signals that we get, and stops when
// we do. When its lock is lost, the command and all its descendants are ended before anybody
// takes the lock. What descended from us before the command goes on. On Linux and Windows the
// command dies when we die, however we do.
//
// Not promised: that what the command started dies with us, except on Windows. On Linux a command
// that gains rights or changes its user forgets to die with us. On Linux without /proc, and on
// systems other than Linux and Windows, we do not know the command's descendants and cannot end
// them.
package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// ErrEnded is the reason why a command that has ended does not want its lock any more.
var ErrEnded = errors.New("the command has ended")

// A Command is the client of a lock, and runs while the lock is held. It stays in our process
// group, so that a terminal's job control sees one job, as with flock(1).
type Command struct {
	Log   hclog.Logger
	Clock clock.Clock
	Tell  func(*backend.HeldError) // while waiting; nil when the wait is over
	Argv  []string
	// Becomes says that this process becomes the command, which then has the lock by itself. The
	// lock must be one that can be lent.
	Becomes bool
	// Caught says that a caller tidies up after a signal that ends the wait of such a process.
	Caught bool
	// Closes says that a lock that could be lent is not lent to the command.
	Closes bool
	// Withhold names variables that are kept from the command's environment, as they hold
	// secrets of ours.
	Withhold []string

	path     string
	lifeline *process.Lifeline     // nil: there is none
	lend     func() ([]int, error) // nil: nothing is lent
	signals  signals
	ctx      context.Context // ends when the lock is not wanted any more
	stop     context.CancelCauseFunc

	adopted    bool           // we may have children that were there before the command
	bystanders map[int]uint64 // those children and their descendants: number in /proc to start time

	// mu makes "stop waiting" and "start the command" exclude each other. Once the command runs,
	// only its end ends the wish for the lock.
	mu      sync.Mutex
	pid     int           // 0: not started
	ended   chan struct{} // closed when the command has ended
	allGone chan struct{} // closed when the command and all its descendants have ended
	status  waitStatus
	got     []os.Signal   // signals that were sent to us
	news    chan struct{} // tells that got has grown
}

// An Error says why a command cannot be run. Status is the exit status that a shell would have.
type Error struct {
	Status int
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("cannot run the command: %v", e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Prepare finds the command and begins to handle signals.
func (c *Command) Prepare(ctx context.Context) error {
	path, err := exec.LookPath(c.Argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) { // what is on PATH is the user's choice
		if len(c.Argv) == 1 && strings.ContainsAny(c.Argv[0], " ;|&<>$") {
			err = fmt.Errorf("%w; if that is a line for a shell, write: sh -c '%s'", err, c.Argv[0])
		}
		return newError(err)
	}
	c.path = path
	if !c.Becomes {
		if c.lifeline, err = process.NewLifeline(); err != nil {
			c.Log.Debug("others cannot see whether what the command starts lives on", "error", err)
		}
	}
	c.ended, c.allGone, c.news = make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
	c.ctx, c.stop = context.WithCancelCause(ctx)
	c.handleSignals()
	return nil
}

// Inherit implements locksmith.Heir.
func (c *Command) Inherit(lend func() ([]int, error)) {
	if !c.Closes {
		c.lend = lend
	}
}

// Describe puts on record how others can tell that all of the command has ended: by its lifeline.
// Nothing proves that of a command that may outlive us without a lifeline that shows it
// (outlivesUs). If we become the command, we are the program on record ourselves.
func (c *Command) Describe(r *owner.Record) {
	if c.Becomes {
		r.Parent = r.Helper
		return
	}
	if c.lifeline != nil {
		r.Lifeline = c.lifeline.Name
	}
	r.NoProof = r.NoProof || c.outlivesUs()
}

func newError(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return &Error{Status: 127, Err: err}
	}
	return &Error{Status: 126, Err: err}
}

// Context implements Client.
func (c *Command) Context() context.Context { return c.ctx }

// Waiting implements Client.
func (c *Command) Waiting(held *backend.HeldError) {
	c.CatchAll()
	c.Tell(held)
}

// Beat implements Client.
func (c *Command) Beat(time.Duration) {}

// Start implements Client: it starts the command, or becomes it. The command finds the lock's
// address, id and token in its environment. Those of a set are several: addresses each on a
// line, the others separated by commas.
func (c *Command) Start(g protocol.Grant) error {
	c.Tell(nil)
	env := append(c.environ(), "LOCKSMITH_LOCK="+g.Lock, "LOCKSMITH_ID="+g.ID)
	if token := g.TokenText(); token != "" {
		env = append(env, "LOCKSMITH_TOKEN="+token)
	}
	if c.Becomes {
		return c.become(env, g.Lock)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.cancelled(g.Lock); err != nil {
		return err
	}
	c.handleStops()
	started := make(chan error)
	go c.startAndReap(env, started)
	return <-started
}

// cancelled returns the reason why the command is not to run any more, or nil.
func (c *Command) cancelled(lock string) error {
	if c.ctx.Err() == nil {
		return nil
	}
	return &locksmith.CancelledError{Lock: lock, Cause: context.Cause(c.ctx)}
}

// environ is our environment, without what is withheld, and without what a run around us says of
// its own lock.
func (c *Command) environ() []string {
	drop := append([]string{"LOCKSMITH_LOCK", "LOCKSMITH_ID", "LOCKSMITH_TOKEN"}, c.Withhold...)
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(drop, name)
	})
}

// Lost implements Client: it ends the command and all its descendants, and returns when none is
// left. It first asks them to end, and waits for half of what is left of the lease, but not
// beyond the end of ctx. So they are gone before anybody takes the lock.
func (c *Command) Lost(ctx context.Context, loss *locksmith.LossError) {
	if isClosed(c.ended) {
		return
	}
	why := "its lock is lost"
	if loss.Code == protocol.MaxHold {
		why = "its time is over"
	}
	c.Log.Info("ending the command, because "+why, "pid", c.pid)
	c.askToEnd()
	pause := min(max(loss.Left/2, minGrace), maxGrace)
	for {
		timer := c.Clock.NewTimer(pause)
		select {
		case <-c.allGone:
			timer.Stop()
			return
		case <-ctx.Done():
			ctx = context.Background()
		case <-timer.C():
		}
		timer.Stop()
		c.kill()
		pause = killAgain
	}
}

const (
	minGrace  = 100 * time.Millisecond
	maxGrace  = 10 * time.Second
	killAgain = 50 * time.Millisecond // for those that forked meanwhile
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
