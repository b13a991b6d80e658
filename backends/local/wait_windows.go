package local

import (
	"context"
	"time"
)

// sleep looks again after slowLook: nothing wakes a waiter here.
func (a *attempt) sleep(outer context.Context, timeout time.Duration) error {
	return a.nap(outer, timeout)
}
