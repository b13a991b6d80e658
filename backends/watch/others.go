package watch

import (
	"context"
	"fmt"
	"time"

	"locksmith/backends/backend"
)

// Others watches what others have in a lock. A T is a reservation, an entry or a file, and is
// watched by the name that its String returns.
type Others[T fmt.Stringer] struct {
	*Watcher
	see See[T]
}

// See looks at a thing once, and does not judge it. last is what the last look showed, or
// nothing. What else this look finds, See writes to the thing. w has the rule that all kinds of
// locks share.
type See[T fmt.Stringer] func(ctx context.Context, w *Watcher, thing *T, last Seen) (Seen, error)

// Observed is a thing as just seen and judged.
type Observed[T fmt.Stringer] struct {
	Observation
	Of T
}

// NewOthers returns a watcher that breaks as r says. It has seen nothing yet.
func NewOthers[T fmt.Stringer](r backend.Request, see See[T]) Others[T] {
	return Others[T]{New(r), see}
}

// Look looks at a thing, and judges it. Its error is that of See.
func (o Others[T]) Look(ctx context.Context, thing T) (Observed[T], error) {
	seen, err := o.Watcher.Look(thing.String(), func(last Seen) (Seen, error) { return o.see(ctx, o.Watcher, &thing, last) })
	return Observed[T]{seen, thing}, err
}

// Listed watches what a listing has just shown, by the sign that the listing has of it. It
// returns for how long the sign must still be listed before the thing may be removed.
func (w *Watcher) Listed(name, sign string, r Rule) time.Duration {
	o, _ := w.Look(name, func(Seen) (Seen, error) { return Seen{Sign: sign, Rules: []Rule{r}}, nil })
	return o.Due
}
