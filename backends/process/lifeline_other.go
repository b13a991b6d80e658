//go:build !linux

package process

import "errors"

// A Lifeline is not to be had here.
type Lifeline struct{ Name string }

// NewLifeline is not to be had here.
func NewLifeline() (*Lifeline, error) { return nil, errors.ErrUnsupported }

// Lend is not to be had here.
func (*Lifeline) Lend() (int, error) { return 0, errors.ErrUnsupported }

func (p Process) lifelineGone() bool { return false }

// CheckProc is for systems where we look at /proc.
func CheckProc() error { return nil }
