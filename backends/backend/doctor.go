package backend

import (
	"context"
	"time"
)

// A Doctor is a Backend that can find out whether its place is fit for locks.
type Doctor interface {
	// Examine tells of one check after the other. It works beside the lock, with
	// names of its own that it removes again, and disturbs nobody. Its error says
	// why it could not go on; what it found is told by then.
	Examine(ctx context.Context, e Examination, tell func(Check)) error
}

// An Examination says how thorough to be.
type Examination struct {
	Idle time.Duration // how long to leave a connection idle, to see whether it is closed
}

// A Check is one thing that was found out about a place.
type Check struct {
	Name    string // of what was looked at, as in "exclusive create"
	Finding Finding
	Text    string // what was seen
	Advice  string // what to do about it; empty if it is fit
}

// A Finding is the outcome of a check.
type Finding string

// The findings, from good to bad.
const (
	Fit     Finding = "fit"
	Unknown Finding = "unknown" // could not be found out
	Weak    Finding = "weak"    // locks work, but see the advice
	Unfit   Finding = "unfit"   // locks there are not safe, or not possible
)
