// Package faulty is where calls to the place of a lock go wrong, as a test says. A kind hands each
// call to a Hook. A Fault is a Hook that spoils the nth call; Run lets each call in turn be spoiled in
// every way, in the lives of all who use a lock, and judges what comes of it.
package faulty

import (
	"errors"
	"fmt"
	"strings"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// A Call is one call to a place.
type Call struct {
	Op   string // "mkdir", "list"…
	Name string // what it is about; of a link, the name that it makes
	To   string // the second name, of a rename
	Do   func() error
}

func (c Call) String() string { return strings.TrimSpace(c.Op + " " + c.Name + " " + c.To) }

// A Hook makes a call or not, and gives the answer. nil makes each.
type Hook func(Call) error

// Make makes a call by way of the hook.
func (h Hook) Make(op, name, to string, do func() error) error {
	if h == nil {
		return do()
	}
	return h(Call{op, name, to, do})
}

// Ask makes a call that returns something. Without success it returns nothing.
func Ask[T any](h Hook, op, name string, do func() (T, error)) (answer T, err error) {
	err = h.Make(op, name, "", func() (err error) { answer, err = do(); return err })
	if err != nil {
		var none T
		return none, err
	}
	return answer, nil
}

// Once calls instead in place of the first call that match accepts.
func Once(match func(Call) bool, instead Hook) Hook {
	met := false
	return func(c Call) error {
		if met || !match(c) {
			return c.Do()
		}
		met = true
		return instead(c)
	}
}

// A Fault is what becomes of the nth call.
type Fault struct {
	Err  error
	Done bool // the call has its effect all the same
	// Late: the call has its effect when so many more calls have begun, whoever makes them.
	Late  int
	Lasts int // how many more calls fail alike
	Code  protocol.Code
	// Spares are the calls that it does not hit; nil: it may hit all.
	Spares func(Call) bool
	Every  bool // every call is hit in turn, however long that takes

	n     int
	since int  // calls since one whose effect is still to come
	off   bool // it hits nobody
	met   bool
	left  func() error // the effect that is still to come
	first Call         // that failed
}

const (
	// AtLast is when a late call has its effect when all is over.
	AtLast = 1 << 20
	// Long is more calls than anybody makes before it gives up.
	Long = 40
)

func (f *Fault) String() string {
	s := f.Err.Error()
	switch {
	case f.Done:
		s += ", but done"
	case f.Late == AtLast:
		s += ", done at last"
	case f.Late > 0:
		s += fmt.Sprintf(", done %d later", f.Late)
	}
	if f.Lasts > 0 {
		s += ", lasting"
	}
	return s
}

// First is the call that failed first, in words.
func (f *Fault) First() string { return f.first.String() }

// On is the Hook of the process that the fault hits.
func (f *Fault) On(c Call) error {
	f.tick()
	if f.off || f.Spares != nil && f.Spares(c) {
		return c.Do()
	}
	if f.n--; f.n > 0 || f.n < -f.Lasts {
		return c.Do()
	}
	if !f.met {
		f.met, f.first = true, c
	}
	switch {
	case f.Done:
		_ = c.Do()
	case f.Late > 0 && c.Op != "list":
		f.left = c.Do
	}
	return f.Err
}

// Beside is the Hook of everybody else.
func (f *Fault) Beside(c Call) error {
	f.tick()
	return c.Do()
}

func (f *Fault) tick() {
	if f.left == nil {
		return
	}
	if f.since++; f.since >= f.Late {
		f.flush()
	}
}

func (f *Fault) flush() {
	if f.left != nil {
		_ = f.left()
		f.left = nil
	}
}

// Away is the error of a call that was not made, because nobody reaches the place.
func Away() error {
	return &backend.Error{Code: protocol.Unreachable, Lock: "fake:/L", Op: "connect", Err: errors.New("no route to host")}
}
