package generation

import (
	"fmt"
	"strconv"
	"strings"

	"locksmith/backends/owner"
	"locksmith/backends/shelf"
)

// SuccessNames are the names of one form's successes: a prefix, the number of a generation, and
// its holder's id.
type SuccessNames struct {
	Prefix string
	Digits int // of a number, at least
}

// Of is the name of the success of a holder.
func (s SuccessNames) Of(n uint64, id string) string {
	return fmt.Sprintf("%s%0*d-%s", s.Prefix, s.Digits, n, id)
}

// Slip is the success of the holder of generation n. Its text is that holder's record.
func (s SuccessNames) Slip(n uint64, by *Claim) shelf.Slip {
	return shelf.Slip{Name: s.Of(n, by.ID), Number: n, Text: by.Record}
}

// Parse reads what Of wrote, and nothing else.
func (s SuccessNames) Parse(name string) (slip shelf.Slip, ok bool) {
	rest, ok := strings.CutPrefix(name, s.Prefix)
	digits, id, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(digits, 10, 64)
	return shelf.Slip{Name: name, Number: n}, ok && err == nil && owner.IsID(id) && s.Of(n, id) == name
}
