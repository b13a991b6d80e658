//go:build linux

package promises

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locksmith/test/lab/kinds"
)

// A question is asked of each kind for which it arises.
type question struct {
	row  int
	name string                // what happens
	want string                // what people must see
	of   func(kinds.Kind) bool // for which kinds it arises; nil: for all
	long bool                  // it takes long
	ask  func(*cell) (e evil)  // what broke the promise; "": it is kept
	open exceptions            // why it fails today
	not  exceptions            // why it cannot be kept, in the words of the guide
}

// An evil is what somebody saw who had been promised something else.
type evil string

// Exceptions are names of kinds, in one text, by what is said of them.
type exceptions map[string]string

// of returns what is said of a kind.
func (e exceptions) of(k kinds.Kind) (why string, is bool) {
	for why, names := range e {
		if slices.Contains(strings.Fields(names), k.Title) {
			return why, true
		}
	}
	return "", false
}

// A state is what is expected of a cell.
type state string

const (
	absent state = "–" // the question does not arise
	kept   state = "kept"
	open   state = "open"
	cannot state = "cannot"
)

func (q *question) state(k kinds.Kind) (s state, why string) {
	if q.of != nil && !q.of(k) {
		return absent, ""
	}
	if why, is := q.open.of(k); is {
		return open, why
	}
	if why, is := q.not.of(k); is {
		return cannot, why
	}
	return kept, ""
}

// judge asks a question of a kind.
func (q *question) judge(t *testing.T, k kinds.Kind) {
	s, _ := q.state(k)
	if s == absent || q.long && !*long {
		return
	}
	t.Run(fmt.Sprintf("%d %s/%s", q.row, q.name, k.Title), func(t *testing.T) {
		t.Parallel()
		e := q.ask(newCell(t, k))
		for tries := 0; tries < 3 && s != kept && e == ""; tries++ { // on a busy machine a lease may end within one try
			e = q.ask(newCell(t, k))
		}
		switch {
		case s == kept && e != "":
			t.Errorf("promised: %s; seen: %s", q.want, e)
		case s == open && e == "":
			t.Errorf("this is kept now: %s; take %s off its open cells", q.want, k.Title)
		case s == cannot && e == "":
			t.Errorf("this is said to be impossible, and was kept: %s", q.want)
		case e != "":
			t.Logf("%s: %s", s, e)
		}
	})
}

func onDisk(k kinds.Kind) bool      { return k.OnDisk() }
func ofThisDisk(k kinds.Kind) bool  { return k.OnDisk() && !k.Server && k.Doctor }
func hasTokens(k kinds.Kind) bool   { return k.Tokens }
func isListed(k kinds.Kind) bool    { return k.List }
func hasLease(k kinds.Kind) bool    { return !k.Kernel }
func ofManyHosts(k kinds.Kind) bool { return !k.Host }

// named are the kinds with these names.
func named(names string) func(kinds.Kind) bool {
	return func(k kinds.Kind) bool { return slices.Contains(strings.Fields(names), k.Title) }
}

// questions are all of them.
func questions() []question {
	return slices.Concat(row1(), row2(), row3(), row4(), row5(), row6(),
		row7(), row8(), row9(), row10(), row11(), row12())
}
