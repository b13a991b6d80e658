//go:build !linux

package process

import "errors"

// A Lifeline is not supported here.
type Lifeline struct{ Name string }

// NewLifeline is not supported here.
func NewLifeline() (*Lifeline, error) { return nil, errors.ErrUnsupported }

// Lend is not supported here.
func (*Lifeline) Lend() (int, error) { return 0, errors.ErrUnsupported }

func (p Process) lifelineGone() bool { return false }

// CheckProc returns nil: we do not look at /proc here.
func CheckProc() error { return nil }
