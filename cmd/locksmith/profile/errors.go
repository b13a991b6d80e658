package profile

import (
	"errors"
	"fmt"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// fail is the one form of this package's errors.
func fail(file, op string, cause error, hint string) error {
	return &backend.Error{Code: protocol.Config, Lock: file, Op: op, Err: cause, Hint: hint}
}

// A fault is what is wrong about a value, and what to write instead.
type fault struct{ cause, hint string }

func (f *fault) Error() string { return f.cause }

func faulty(hint, cause string, args ...any) *fault {
	return &fault{fmt.Sprintf(cause, args...), hint}
}

func hintOf(err error) string {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.hint
	}
	return "correct it"
}

// failAt says in which line of a file of profiles something is wrong; 0 is
// somewhere.
func failAt(file string, line int, wrong error) error {
	where := readProfiles
	if line > 0 {
		where = fmt.Sprintf("%s, line %d", readProfiles, line)
	}
	return fail(file, where, wrong, hintOf(wrong))
}
