package cli

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
)

// A view is a lock that is looked at again and again, but never twice at a time: a look
// that hangs, as it does on a dead server, is waited for before the next.
type view struct {
	connect *flags.Connect
	lock    string // as it was given
	address string
	backend backend.Backend // nil until it could be opened
	pending chan glance     // of a look that has not come back; else nil
}

// A glance is what came of a look.
type glance struct {
	report backend.Report
	err    error
}

// open finds the lock and its password. That can become possible later.
func (v *view) open() error {
	if v.backend != nil {
		return nil
	}
	var err error
	v.backend, v.address, err = v.connect.Open(v.lock)
	return err
}

// look is one look at the lock. Its error is on record.
func (v *view) look(ctx context.Context) lockStatus {
	err := v.open()
	s := unseen(v.address)
	if err == nil {
		var r backend.Report
		if r, err = v.inspect(ctx); err == nil {
			s.take(r)
		}
	}
	if err != nil {
		s.Error = err.Error()
	}
	return s
}

// inspect does not wait again for a look that has hung for as long as it may.
func (v *view) inspect(ctx context.Context) (backend.Report, error) {
	patience := time.Duration(0)
	if v.pending == nil {
		patience = flags.AnswerTime
		v.begin(ctx)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case g := <-v.pending:
		return v.end(g)
	case <-timer.C:
	case <-ctx.Done():
	}
	select {
	case g := <-v.pending:
		return v.end(g)
	default:
		return backend.Report{}, flags.NoAnswer(v.address, lookOp, flags.AnswerTime)
	}
}

func (v *view) begin(ctx context.Context) {
	pending := make(chan glance, 1)
	v.pending = pending
	go func() {
		ctx, cancel := context.WithTimeout(ctx, flags.AnswerTime)
		defer cancel()
		r, err := v.backend.Inspect(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = flags.NoAnswer(v.address, lookOp, flags.AnswerTime)
		}
		pending <- glance{r, err}
	}()
}

func (v *view) end(g glance) (backend.Report, error) {
	v.pending = nil
	return g.report, g.err
}
