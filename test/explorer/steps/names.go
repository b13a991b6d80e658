//go:build unix

// Package steps has the steps that processes take, and the answers: a step asks the world for one
// thing. It also has the numbers that stand for names, listings and looks, so that states are
// small.
package steps

import (
	"encoding/binary"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Text is a string that has a number: a path, or the content of a symbolic link. Equal strings
// have equal numbers, so that states are small. 0 is the empty string; as a path it is the lock
// directory itself.
type Text uint32

// A Listing is a set of names that has a number. 0 means none.
type Listing uint32

// A Maker says which process made the last name of a path, and for which of its attempts. The id
// in the name tells both.
type Maker struct {
	Process int // -1: the name carries no id
	Serial  uint8
}

// Names gives numbers to strings, listings and views. Each Text is an index of Texts, Parents and
// Makers, each Listing one of Listings.
type Names struct {
	ids      map[string]Text
	Texts    []string
	Parents  []Text
	Makers   []Maker
	sets     map[string]Listing
	Listings [][]Text
	seen     map[View]int64
	Views    []View
}

// NewNames returns the Names of a run, which know only the empty string.
func NewNames() *Names {
	n := &Names{ids: map[string]Text{}, sets: map[string]Listing{}, Listings: [][]Text{nil}, seen: map[View]int64{}}
	n.Of("")
	return n
}

// Of returns the number of a string.
func (n *Names) Of(s string) Text {
	if id, ok := n.ids[s]; ok {
		return id
	}
	var parent Text
	if dir := path.Dir(s); s != "" && dir != "." && !strings.Contains(s, "\n") {
		parent = n.Of(dir)
	}
	id := Text(len(n.Texts))
	n.ids[s] = id
	n.Texts = append(n.Texts, s)
	n.Parents = append(n.Parents, parent)
	n.Makers = append(n.Makers, MakerOf(s))
	return id
}

// Listing returns the number of a set of names, which are in order.
func (n *Names) Listing(all []Text) Listing {
	key := make([]byte, 0, 4*len(all))
	for _, t := range all {
		key = binary.AppendUvarint(key, uint64(t))
	}
	if id, ok := n.sets[string(key)]; ok {
		return id
	}
	id := Listing(len(n.Listings))
	n.sets[string(key)] = id
	n.Listings = append(n.Listings, slices.Clone(all))
	return id
}

// Base returns the last name of a path.
func (n *Names) Base(t Text) string { return path.Base(n.Texts[t]) }

// Moved returns the path t after the directory from was renamed to to.
func (n *Names) Moved(t, from, to Text) Text {
	return n.Of(n.Texts[to] + strings.TrimPrefix(n.Texts[t], n.Texts[from]))
}

// Below reports whether the path t leads to something below a directory.
func (n *Names) Below(t, dir Text) bool {
	return strings.HasPrefix(n.Texts[t], n.Texts[dir]+"/")
}

// NewID returns an id like those of owner.NewID that names a process and an attempt.
func NewID(process int, serial uint8) string {
	hex := strconv.FormatUint(uint64(process+1)<<32|uint64(serial), 16)
	return strings.Repeat("0", 32-len(hex)) + hex
}

var lastID = regexp.MustCompile(`[0-9a-f]{32}$`)

// MakerOf returns the maker of what an id stands at the end of.
func MakerOf(s string) Maker {
	id := lastID.FindString(s)
	v, err := strconv.ParseUint(id, 16, 64)
	if id == "" || err != nil || v>>32 == 0 {
		return Maker{Process: -1}
	}
	return Maker{Process: int(v>>32) - 1, Serial: uint8(v)}
}
