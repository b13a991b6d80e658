//go:build unix

package steps

import (
	"slices"
	"strings"
)

// A View is what a look at a file shows.
type View struct {
	Born    Text // which file it is: the name under which it was made
	Content Text
	Stamp   int32
	Links   int32
	Number  uint32
}

// View returns the number of a view.
func (n *Names) View(v View) int64 {
	if id, ok := n.seen[v]; ok {
		return id
	}
	id := int64(len(n.Views))
	n.seen[v] = id
	n.Views = append(n.Views, v)
	return id
}

// Key is the key of an object in a listing.
func (n *Names) Key(shown Text) string { return n.Texts[n.Views[shown].Born] }

// InOrder sorts the objects of a listing by their keys.
func (n *Names) InOrder(all []Text) {
	slices.SortFunc(all, func(a, b Text) int { return strings.Compare(n.Key(a), n.Key(b)) })
}

// Listed is the answer with the first page of some objects.
func (n *Names) Listed(all []Text, page int) Reply {
	more := page > 0 && len(all) > page
	if more {
		all = all[:page]
	}
	return OK(int64(n.Listing(all))<<1 | int64(Bit(more)))
}

// Page returns what such an answer shows, and whether there is more.
func (n *Names) Page(r Reply) (shown []Text, more bool) {
	return n.Listings[r.Value>>1], r.Value&1 != 0
}
