package explore

import (
	"encoding/binary"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A text is a string that has a number: a path, or the content of a symbolic link. Equal strings
// have equal numbers, so that states are small. 0 is the empty string; as a path it is the lock
// directory itself.
type text uint32

// A listing is a set of names that has a number. 0 means none.
type listing uint32

// A maker says which process made the last name of a path, and for which of its attempts. The id
// in the name tells both.
type maker struct {
	process int // -1: the name carries no id
	serial  uint8
}

// names gives numbers to strings and listings.
type names struct {
	ids      map[string]text
	texts    []string
	parents  []text
	makers   []maker
	sets     map[string]listing
	listings [][]text
	seen     map[view]int64
	views    []view
}

func newNames() *names {
	n := &names{ids: map[string]text{}, sets: map[string]listing{}, listings: [][]text{nil}, seen: map[view]int64{}}
	n.of("")
	return n
}

func (n *names) of(s string) text {
	if id, ok := n.ids[s]; ok {
		return id
	}
	var parent text
	if dir := path.Dir(s); s != "" && dir != "." && !strings.Contains(s, "\n") {
		parent = n.of(dir)
	}
	id := text(len(n.texts))
	n.ids[s] = id
	n.texts = append(n.texts, s)
	n.parents = append(n.parents, parent)
	n.makers = append(n.makers, makerOf(s))
	return id
}

func (n *names) listing(all []text) listing {
	key := make([]byte, 0, 4*len(all))
	for _, t := range all {
		key = binary.AppendUvarint(key, uint64(t))
	}
	if id, ok := n.sets[string(key)]; ok {
		return id
	}
	id := listing(len(n.listings))
	n.sets[string(key)] = id
	n.listings = append(n.listings, slices.Clone(all))
	return id
}

func (n *names) base(t text) string { return path.Base(n.texts[t]) }

// moved is the path t after the directory from was renamed to to.
func (n *names) moved(t, from, to text) text {
	return n.of(n.texts[to] + strings.TrimPrefix(n.texts[t], n.texts[from]))
}

func (n *names) below(t, dir text) bool {
	return strings.HasPrefix(n.texts[t], n.texts[dir]+"/")
}

// newID returns an id like those of owner.NewID that names a process and an attempt.
func newID(process int, serial uint8) string {
	hex := strconv.FormatUint(uint64(process+1)<<32|uint64(serial), 16)
	return strings.Repeat("0", 32-len(hex)) + hex
}

var lastID = regexp.MustCompile(`[0-9a-f]{32}$`)

func makerOf(s string) maker {
	id := lastID.FindString(s)
	v, err := strconv.ParseUint(id, 16, 64)
	if id == "" || err != nil || v>>32 == 0 {
		return maker{process: -1}
	}
	return maker{process: int(v>>32) - 1, serial: uint8(v)}
}

// compare returns what is in both sorted lists, and what is in only one of them.
func compare(a, b []text) (both, either []text) {
	for _, t := range a {
		if slices.Contains(b, t) {
			both = append(both, t)
		} else {
			either = append(either, t)
		}
	}
	for _, t := range b {
		if !slices.Contains(a, t) {
			either = append(either, t)
		}
	}
	return both, either
}

func merge(a, b []text) []text {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return all
}

// subsets returns all subsets of a few names, and some subsets of many.
func subsets(all []text) [][]text {
	const few = 4
	if len(all) > few {
		half := len(all) / 2
		return [][]text{nil, all, all[:half], all[half:]}
	}
	var some [][]text
	for mask := range 1 << len(all) {
		var one []text
		for i, t := range all {
			if mask>>i&1 != 0 {
				one = append(one, t)
			}
		}
		some = append(some, one)
	}
	return some
}
