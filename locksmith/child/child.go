// Package child is the command of "locksmith run", which runs while a lock is held.
//
// Promised: the command stays in our process group and gets the signals that we get. When Ctrl-Z
// stops it, we stop, too (on Linux). If the lock is lost while the command runs, the command and all
// its descendants are ended before anybody who goes by the lease takes the lock. Processes that
// descended from us before there was a command are left alone. On Linux and Windows the command dies
// when we die, however we do.
//
// Not promised: that the command is ended in time if the lock is gone already, or less than minGrace
// of its lease is left, when we notice the loss; that the command's descendants end with it (what it
// leaves running goes on without the lock); that they die when we die, except on Windows. On Linux a
// command that has gained rights or changed its user is not killed when we die. On Linux without
// /proc, and on systems other than Linux and Windows, we do not know the command's descendants and
// cannot end them.
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

// ErrEnded is the cause with which Context ends when the command has ended.
var ErrEnded = errors.New("the command has ended")

// A Command is the client of a lock, and runs while the lock is held. It stays in our process
// group, so that a terminal's job control sees one job, as with flock(1).
type Command struct {
	Log   hclog.Logger
	Clock clock.Clock
	// Tell is called with who has the lock while we wait, and with nil when the lock is ours.
	Tell func(*backend.HeldError)
	Argv []string
	// Becomes says that this process becomes the command, which then has the lock by itself. The
	// lock must be one that can be lent.
	Becomes bool
	// Caught says that the caller tidies up after a signal that ends the wait. So that signal must
	// not end this process at once. Caught counts only if Becomes is true.
	Caught bool
	// Closes says that the command does not inherit the lock, even if the lock can be lent (-o).
	Closes bool
	// Alone says that signals which come to us are not passed on once the command runs, because their
	// sender sends them to the command, too.
	Alone bool
	// Late says that Start tells when the program cannot be found, as flock(1) does, and not Prepare.
	Late bool
	// Withhold names variables that are kept from the command's environment, as they hold
	// secrets of ours.
	Withhold []string

	path    string
	missing error // why there is no path
	// lifeline shows others whether the command or a descendant of it lives; nil: there is none.
	lifeline *process.Lifeline
	lend     func() ([]int, error) // nil: nothing is lent
	signals  signals
	ctx      context.Context // ends when the lock is not wanted any more
	stop     context.CancelCauseFunc

	hadChildren bool           // we may have children that were there before the command
	bystanders  map[int]uint64 // those children and their descendants: number in /proc to start time

	// mu makes sure that a signal does not end the wait while the command is started. Once the
	// command runs, only the command's end ends the wish for the lock.
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
		if c.missing = newError(err); !c.Late {
			return c.missing
		}
	}
	c.path = path
	if !c.Becomes {
		if c.lifeline, err = process.NewLifeline(); err != nil {
			c.Log.Debug("others cannot see whether programs that the command starts still run", "error", err)
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

// Describe puts on record how others can tell that the command and all its descendants have ended:
// no process has the lifeline any more. If one of these processes may outlive us without the
// lifeline (outlivesUs), the record says that there is no proof (NoProof). If we become the command,
// the record names this process as the program for which the lock is held (Parent).
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
// address, id and token in its environment. A set of locks has several of each: the addresses are
// each on a line, the ids and the tokens are separated by commas.
func (c *Command) Start(g protocol.Grant) error {
	c.Tell(nil)
	if c.missing != nil {
		return c.missing
	}
	env := append(Environ(c.Withhold), "LOCKSMITH_LOCK="+g.Lock, "LOCKSMITH_ID="+g.ID)
	if token := g.TokenText(); token != "" {
		env = append(env, "LOCKSMITH_TOKEN="+token)
	}
	if c.Becomes {
		return c.become(env, g.Lock)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		readBeginning(c.path)
	}()
	select {
	case <-read:
	case <-c.ctx.Done(): // a read that hangs is left behind
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.cancelled(g.Lock); err != nil {
		return err
	}
	c.handleStops()
	started := make(chan error)
	go c.startAndReap(env, started)
	err := <-started
	if err == nil {
		c.catchSoon()
	}
	return err
}

// CallOff implements Starter.
func (c *Command) CallOff(loss *locksmith.LossError) { c.stop(loss) }

// cancelled returns the reason why the command is not to run any more, or nil.
func (c *Command) cancelled(lock string) error {
	if c.ctx.Err() == nil {
		return nil
	}
	return &locksmith.CancelledError{Lock: lock, Cause: context.Cause(c.ctx)}
}

// Environ is our environment without the variables withheld, and without those in which an outer
// run, whose command we are or descend from, names its own lock.
func Environ(withheld []string) []string {
	drop := append([]string{"LOCKSMITH_LOCK", "LOCKSMITH_ID", "LOCKSMITH_TOKEN"}, withheld...)
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(drop, name)
	})
}

// Lost implements Client: it ends the command and all its descendants, and returns when none is
// left. It first asks them to end (askToEnd). Then it waits for half of what is left of the lease,
// for minGrace at least and maxGrace at most. If ctx ends, others may have the lock (Client), and
// Lost waits no longer. Then it kills those that are left, again every killAgain. So they are gone
// before anybody who goes by the lease takes the lock, unless less than minGrace of the lease was
// left.
//
// If the command had ended already, Lost does nothing: what a command leaves running goes on
// without the lock, whether that was lost or released.
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
			ctx = context.Background() // it has ended for good; from now on only the timer counts
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

// Ended reports whether the command was started and has ended.
func (c *Command) Ended() bool { return isClosed(c.ended) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
