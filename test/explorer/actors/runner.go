//go:build unix

package actors

import (
	"errors"
	"fmt"
	"iter"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/test/explorer/steps"
)

// A runner runs the code under test as one process. The code runs until it asks the world for
// something. Then it is stopped until it gets its answer.
type runner struct {
	names  *steps.Names
	role   Role
	self   int
	serial uint8 // how many ids were given out so far
	answer steps.Reply
	// wish is the attempt under way, and how far the role has come.
	wish  []any
	yield func(steps.Op) bool
	next  func() (steps.Op, bool)
	stop  func()
	given func(error) // called when the kernel gives its lock on a file
	// What has happened since the last answer.
	notes []Note
	// place is a fingerprint of all that the process knew when it last was between two calls of
	// the code under test. between is false if that was not since the last answer.
	place   uint64
	between bool
}

// stopped is the panic that unwinds a process which is not needed any more.
type stopped struct{}

func newRunner(n *steps.Names, self int, role Role) *runner {
	r := &runner{names: n, self: self, role: role}
	r.next, r.stop = iter.Pull(r.run)
	return r
}

func (r *runner) run(yield func(steps.Op) bool) {
	r.yield = yield
	defer func() {
		switch e := recover().(type) {
		case nil, stopped:
		default:
			r.note(Note{Kind: NotePanic, Text: fmt.Sprintf("%v\n%s", e, debug.Stack())})
		}
	}()
	r.role.play(r)
}

// step gives the process its answer, and returns what it asks next.
func (r *runner) step(answer steps.Reply) steps.Op {
	r.answer, r.notes, r.between = answer, nil, false
	o, running := r.next()
	if !running {
		return steps.Op{}
	}
	return o
}

// ask is called by the code under test.
func (r *runner) ask(o steps.Op) steps.Reply {
	if !r.yield(o) {
		panic(stopped{})
	}
	answer := r.answer
	if answer.Given {
		r.given(nil)
	}
	return answer
}

func (r *runner) note(n Note) { r.notes = append(r.notes, n) }

// pause marks a place between two calls: from here on the process is only what hash says.
func (r *runner) pause(hash uint64) { r.place, r.between = hash, true }

func (r *runner) text(s string) steps.Text { return r.names.Of(s) }

func asError(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

// A NoteKind is something that a process did or found out between two steps.
type NoteKind uint8

// What a process may do or find out.
const (
	NoteTry           NoteKind = iota // Try is called
	NoteHeld                          // Try returned a hold
	NoteGaveUp                        // Try was refused, and is not made again
	NoteBeatBegins                    // Heartbeat is called
	NoteBeat                          // Heartbeat returned
	NoteReleaseBegins                 // Release is called
	NoteReleased                      // Release returned
	NoteCondemned                     // the operator said whom it breaks
	NoteError                         // another call failed
	NotePanic
)

// An Outcome is what a call on a hold returned.
type Outcome uint8

// What a call on a hold may return: nil, backend.ErrGone, or another error.
const (
	Done Outcome = iota
	Gone
	Unclear
)

// A Note is what a process did or found out, with what came of it.
type Note struct {
	Kind   NoteKind
	Token  uint64 // of the hold; for NoteCondemned, the process
	Serial uint8
	Out    Outcome
	Text   string
}

func (n Note) with(err error) Note {
	switch {
	case errors.Is(err, backend.ErrGone):
		n.Out = Gone
	case err != nil:
		n.Out, n.Text = Unclear, err.Error()
	}
	return n
}
