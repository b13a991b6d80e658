package generation

import (
	"fmt"

	"locksmith/backends/tokens"
	"locksmith/backends/watch"
)

// A Held is what a hold of either form has.
type Held[T fmt.Stringer, C Reservation] struct {
	Mine   C
	Number uint64          // of the generation
	Old    tokens.Numbers  // the generations that there were
	Others watch.Others[T] // for Tend only
}

// Won is a hold of generation n by the attempt's reservation.
func (a *Attempt[T, C]) Won(n uint64, old tokens.Numbers) Held[T, C] {
	return Held[T, C]{Mine: a.Mine, Number: n, Old: old, Others: a.Others}
}

// ID implements backend.Hold.
func (h *Held[T, C]) ID() string { return h.Mine.Own().ID }

// Token implements backend.Hold.
func (h *Held[T, C]) Token() uint64 { return h.Number }
