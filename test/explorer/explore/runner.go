package explore

import (
	"errors"
	"fmt"
	"iter"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
)

// A runner runs the code under test as one process. The code runs until it asks the world for
// something. Then it is stopped until it gets its answer.
type runner struct {
	names  *names
	role   Role
	self   int
	serial uint8 // how many ids were given out so far
	answer reply
	// wish is the attempt under way, and how far the role has come.
	wish  []any
	yield func(op) bool
	next  func() (op, bool)
	stop  func()
	given func(error) // called when the kernel gives its lock on a file
	// What has happened since the last answer.
	notes []note
	// place is a fingerprint of all that the process knew when it last was between two calls of
	// the code under test. between is false if that was not since the last answer.
	place   uint64
	between bool
}

// stopped is the panic that unwinds a process which is not needed any more.
type stopped struct{}

func newRunner(n *names, self int, role Role) *runner {
	r := &runner{names: n, self: self, role: role}
	r.next, r.stop = iter.Pull(r.run)
	return r
}

func (r *runner) run(yield func(op) bool) {
	r.yield = yield
	defer func() {
		switch e := recover().(type) {
		case nil, stopped:
		default:
			r.note(note{kind: notePanic, text: fmt.Sprintf("%v\n%s", e, debug.Stack())})
		}
	}()
	r.role.play(r)
}

// step gives the process its answer, and returns what it asks next.
func (r *runner) step(answer reply) op {
	r.answer, r.notes, r.between = answer, nil, false
	o, running := r.next()
	if !running {
		return op{}
	}
	return o
}

// ask is called by the code under test.
func (r *runner) ask(o op) reply {
	if !r.yield(o) {
		panic(stopped{})
	}
	answer := r.answer
	if answer.given {
		r.given(nil)
	}
	return answer
}

func (r *runner) note(n note) { r.notes = append(r.notes, n) }

// pause marks a place between two calls: from here on the process is only what hash says.
func (r *runner) pause(hash uint64) { r.place, r.between = hash, true }

func (r *runner) text(s string) text { return r.names.of(s) }

func asError(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

// A noteKind is something that a process did or found out between two steps.
type noteKind uint8

const (
	noteTry           noteKind = iota // Try is called
	noteHeld                          // Try returned a hold
	noteBeatBegins                    // Heartbeat is called
	noteBeat                          // Heartbeat returned
	noteReleaseBegins                 // Release is called
	noteReleased                      // Release returned
	noteCondemned                     // the operator said whom it breaks
	noteError                         // another call failed
	notePanic
)

// An outcome is what a call on a hold returned.
type outcome uint8

const (
	done outcome = iota
	gone
	unclear
)

type note struct {
	kind   noteKind
	token  uint64 // of the hold; for noteCondemned, the process
	serial uint8
	out    outcome
	text   string
}

func (n note) with(err error) note {
	switch {
	case errors.Is(err, backend.ErrGone):
		n.out = gone
	case err != nil:
		n.out, n.text = unclear, err.Error()
	}
	return n
}
