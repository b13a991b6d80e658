package show

import (
	"errors"
	"fmt"
	"testing"

	"locksmith/cmd/locksmith/cli/term"
)

// A disk is full for some writes, by their number.
type disk struct {
	writes  int
	fail    map[int]error
	written string
}

func (d *disk) Write(b []byte) (int, error) {
	d.writes++
	if err := d.fail[d.writes]; err != nil {
		return 0, err
	}
	d.written += string(b)
	return len(b), nil
}

// TestOutput: an Output remembers the first failure, and writes nothing after it.
func TestOutput(t *testing.T) {
	full, later := errors.New("full"), errors.New("later")
	d := &disk{fail: map[int]error{2: full, 4: later}}
	o := Output{To: d}
	for i := range 4 {
		fmt.Fprint(&o, i)
	}
	if err := o.Failure(); !errors.Is(err, full) || d.written != "0" {
		t.Errorf("after a failed write: Failure is %v, and %q was written", err, d.written)
	}
}

// TestNobodyReads: a reader that has gone is no failure.
func TestNobodyReads(t *testing.T) {
	o := Output{To: &disk{fail: map[int]error{1: fmt.Errorf("write: %w", term.ErrUnread)}}}
	fmt.Fprint(&o, "x")
	if err := o.Failure(); err != nil {
		t.Error(err)
	}
}
