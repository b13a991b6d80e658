package watch

import (
	"context"
	"fmt"
	"time"

	"locksmith/backends/backend"
)

// Others watches what others have in a lock: a T is a reservation, an entry, or a file. Its
// String is the name by which it is watched.
type Others[T fmt.Stringer] struct {
	*Watcher
	see See[T]
}

// See looks at a thing once, without judging it. last is what the look before showed, or
// nothing. What this look shows beside what it returns, it writes to the thing. w has the
// ground that all kinds of locks share.
type See[T fmt.Stringer] func(ctx context.Context, w *Watcher, thing *T, last Seen) (Seen, error)

// Observed is a thing as just seen, judged.
type Observed[T fmt.Stringer] struct {
	Observation
	Of T
}

// NewOthers returns a watcher that breaks as the request says. It has seen nothing yet.
func NewOthers[T fmt.Stringer](r backend.Request, see See[T]) Others[T] {
	return Others[T]{New(r), see}
}

// Look looks at a thing, and judges it. Its error is that of See.
func (o Others[T]) Look(ctx context.Context, thing T) (Observed[T], error) {
	seen, err := o.Watcher.Look(thing.String(), func(last Seen) (Seen, error) { return o.see(ctx, o.Watcher, &thing, last) })
	return Observed[T]{seen, thing}, err
}

// Listed watches what a listing has just shown, with the sign that it has there. It
// returns how long that must still be listed before it may be removed.
func (w *Watcher) Listed(name, sign string, r Rule) time.Duration {
	o, _ := w.Look(name, func(Seen) (Seen, error) { return Seen{Sign: sign, Rules: []Rule{r}}, nil })
	return o.Due
}
