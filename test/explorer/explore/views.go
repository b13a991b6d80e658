package explore

import (
	"slices"
	"strings"
)

// A view is what a look at a file shows.
type view struct {
	born    text // which file it is: the name under which it was made
	content text
	stamp   int32
	links   int32
	number  uint32
}

// view gives a number to a view.
func (n *names) view(v view) int64 {
	if id, ok := n.seen[v]; ok {
		return id
	}
	id := int64(len(n.views))
	n.seen[v] = id
	n.views = append(n.views, v)
	return id
}

// key is the key of an object in a listing.
func (n *names) key(shown text) string { return n.texts[n.views[shown].born] }

func (n *names) inOrder(all []text) {
	slices.SortFunc(all, func(a, b text) int { return strings.Compare(n.key(a), n.key(b)) })
}

// listed is the answer with the first page of some objects.
func (n *names) listed(all []text, page int) reply {
	more := page > 0 && len(all) > page
	if more {
		all = all[:page]
	}
	return ok(int64(n.listing(all))<<1 | int64(b2i(more)))
}

// page returns what such an answer shows, and whether there is more.
func (n *names) page(r reply) (shown []text, more bool) {
	return n.listings[r.value>>1], r.value&1 != 0
}
