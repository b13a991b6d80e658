package generation

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
)

// Max leaves room to count on. No helper ever makes a larger number.
const Max = 1 << 60

// Kept is how many old generations are kept beside the newest. A listing is not atomic, and one
// that misses the newest must not miss all.
const Kept = 2

// Numbers are generations in ascending order.
type Numbers []uint64

// Newest returns the highest, or 0.
func (n Numbers) Newest() uint64 {
	if len(n) == 0 {
		return 0
	}
	return n[len(n)-1]
}

// RemoveOld removes, by remove, generations that nobody can take for the newest any more: those
// that were listed before a newer one that was ours. It stops after most of them, which bounds
// the time that one release spends on what others left. It also stops when one could not be
// removed.
func (n Numbers) RemoveOld(newest uint64, most int, remove func(n uint64) error) {
	for i, old := range n {
		if old+Kept >= newest || i == most {
			return
		}
		if remove(old) != nil {
			return // so that none is there without all that are newer
		}
	}
}

// SinceWhen corrects a holder's age, which so far counts from its wish. Nobody can have held for
// longer than the newest generation exists.
func SinceWhen(h *backend.Holder, made, today time.Time) {
	h.Age = min(h.Age, max(today.Sub(made), 0))
}

// Calmly calls look until nothing changes during a look. It fails if something changes too often.
func Calmly[R any](ctx context.Context, l backend.Name, op string, look func() (R, error)) (R, error) {
	r, err := backend.Retry(ctx, MaxRaces, look)
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
