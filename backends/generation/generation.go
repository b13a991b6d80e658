package generation

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
)

// Kept is how many old generations are kept beside the newest. Whoever saw none of them in a
// listing would begin anew at 1.
const Kept = 2

// SinceWhen corrects a holder's age, which so far counts from its wish. Nobody can have held for
// longer than the newest generation exists.
func SinceWhen(h *backend.Holder, made, today time.Time) {
	h.Age = min(h.Age, max(today.Sub(made), 0))
}

// Calmly calls look until nothing changes during a look. It fails if something changes too often.
func Calmly[R any](ctx context.Context, l backend.Name, op string, look func() (R, error)) (R, error) {
	r, err := backend.Retry(ctx, backend.Races, look)
	if errors.Is(err, backend.ErrAgain) {
		err = l.Fail(op, err, nil)
	}
	return r, err
}

// Lost is the error of a hold whose reservation is gone.
func Lost(l backend.Name, op string) error {
	return l.Gone(op, "somebody broke the lock or removed its reservation")
}

// InUse is the error of a removal beside others.
func InUse(l backend.Name) error { return l.InUse("somebody came meanwhile") }
