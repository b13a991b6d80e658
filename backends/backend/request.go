package backend

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksmith/backends/owner"
)

// TellBroken tells whoever made the request of a dead holder whose lock was broken.
func (r Request) TellBroken(lock string, dead Holder) {
	if r.Broke != nil {
		r.Broke(lock, dead)
	}
}

// A Memory keeps under this id and sign that a try met a foreign file.
const foreignID, foreignSign = "00000000000000000000000000000000", "a file that says nothing of a holder"

// MeetForeign remembers, if tries remember, that a file that says nothing of a holder is where the lock
// would be.
func (r Request) MeetForeign() {
	if r.Memory != nil {
		r.Memory.Since(foreignID, foreignSign, r.Clock.Now())
	}
}

// MetForeign reports whether tries with this memory met such a file.
func MetForeign(m Memory) bool { return len(m.Known(foreignSign)) > 0 }

// Checked returns the request with its lease in whole milliseconds, as locks keep it. Its error
// says why nobody can ask in this way for such a lock. what names the kind of lock, as in "a lock
// file". modes are the modes that this kind has: "exclusive", and perhaps "shared".
func (r Request) Checked(lock Name, what string, modes ...string) (Request, error) {
	const op = "acquire"
	r.Owner.Lease = r.Owner.Lease.Truncate(time.Millisecond)
	mode, lease := r.Owner.Mode, r.Owner.Lease
	switch {
	case mode == "shared" && !slices.Contains(modes, mode):
		return r, lock.Usage(op, what+" cannot be shared", "leave out --shared, or use nfs:, which can be shared, on this disk, too")
	case !slices.Contains(modes, mode):
		return r, lock.Usage(op, what+" cannot be "+Quoted(mode), "use "+strings.Join(modes, " or "))
	case !owner.IsLease(lease):
		return r, lock.Usage(op, fmt.Sprintf("a lease of %v is not between %v and %v", lease, owner.MinLease, owner.MaxLease), "choose another")
	}
	return r, nil
}
