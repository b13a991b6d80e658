package objects

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/shelf"
	"locksmith/backends/tokens"
)

// A place is a reservation as it was listed.
type place struct {
	ticket ticket
	Object
}

// compare orders the queue: by the store's clock, and within its second by the hosts' own.
func (p place) compare(q place) int {
	return cmp.Or(p.Modified.Compare(q.Modified), cmp.Compare(p.ticket.at, q.ticket.at), cmp.Compare(p.ticket.id, q.ticket.id))
}

// A view is all that one listing showed. It leaves out what is not ours.
type view struct {
	generations []Object
	numbers     tokens.Numbers    // of the generations
	queue       []place           // all reservations, in the queue's order
	beats       map[string]Object // heartbeats by their keys
	slips       []shelf.Slip
	stays       bool // more than the one generation that Remove leaves
}

// find returns a reservation; not ok if it was not there.
func (v view) find(t ticket) (place, bool) {
	i := slices.IndexFunc(v.queue, func(p place) bool { return p.ticket == t })
	if i < 0 {
		return place{}, false
	}
	return v.queue[i], true
}

// sign is what was seen of a reservation's last sign of life.
func (v view) sign(p place) Object {
	if b, ok := v.beats[p.ticket.beat()]; ok {
		return b
	}
	return p.Object
}

// list lists all that there is of the lock.
func (l *Lock) list(ctx context.Context) (view, error) {
	all, err := l.Store.List(ctx)
	if err != nil {
		return view{}, l.fail("list the lock's objects", err)
	}
	v := view{beats: map[string]Object{}}
	for _, o := range all {
		switch n, isGeneration := parseGeneration(o.Key); {
		case isGeneration:
			v.generations, v.numbers = append(v.generations, o), append(v.numbers, n)
		case strings.HasPrefix(o.Key, beatPrefix):
			v.beats[o.Key] = o
		default:
			if s, isSlip := slipOf(o); isSlip {
				v.slips = append(v.slips, s)
			}
			rest, _ := strings.CutPrefix(o.Key, reservationPrefix)
			if t, ok := parseTicket(rest); ok && t.reservation() == o.Key {
				v.queue = append(v.queue, place{t, o})
			}
		}
	}
	v.stays = len(all) > min(1, len(v.generations))
	slices.Sort(v.numbers)
	for i := range v.slips {
		v.slips[i].Void = v.slips[i].Number > v.numbers.Newest()
	}
	slices.SortFunc(v.queue, place.compare)
	if n := v.numbers.Newest(); n >= tokens.Max {
		return view{}, l.Address.Unfit("read "+generationKey(n), "nobody has counted that far", unreadable)
	}
	return v, nil
}

const unreadable = "nobody can tell whether the lock is held: make sure that nobody holds it, then remove that object"

// target reads which reservation generation n belongs to. backend.ErrAgain means that it is not
// there any more.
func (l *Lock) target(ctx context.Context, n uint64) (ticket, error) {
	_, content, err := l.Store.Get(ctx, generationKey(n))
	switch {
	case absent(err):
		return ticket{}, backend.ErrAgain
	case err != nil:
		return ticket{}, l.fail("read generation", err)
	}
	t, ok := parseTicket(string(content))
	if !ok {
		return ticket{}, l.Address.Unfit("read "+generationKey(n), "its content is no ticket", unreadable)
	}
	return t, nil
}
