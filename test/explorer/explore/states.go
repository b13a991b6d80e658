//go:build unix

package explore

import (
	"encoding/binary"
	"math/bits"
)

// A key stands for a state. It has 128 bits, so two states with the same key are not to be
// expected among as many as fit into a computer.
type key [2]uint64

func keyOf(b []byte) key {
	k := key{0x243f6a8885a308d3, 0x13198a2e03707344}
	for len(b) >= 8 {
		k.mix(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	last := uint64(len(b)) << 56
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	k.mix(last)
	k.mix(^last)
	return k
}

func (k *key) mix(v uint64) {
	hi, lo := bits.Mul64(k[0]^v, 0x9fb21c651e98df25)
	hi2, lo2 := bits.Mul64(k[1]^bits.RotateLeft64(v, 32), 0xd6e8feb86659fd93)
	k[0] = hi ^ lo2 + 0xa0761d6478bd642f
	k[1] = hi2 ^ lo + 0xe7037ed1a0b428db
}

// A set is a set of keys, with open addressing.
type set struct {
	slots []key
	count int
}

func newSet() *set { return &set{slots: make([]key, 1<<12)} }

// add reports whether k is new.
func (s *set) add(k key) bool {
	if k == (key{}) {
		k[0] = 1
	}
	if 4*s.count > 3*len(s.slots) {
		s.grow()
	}
	slot := s.find(k)
	if *slot == k {
		return false
	}
	*slot = k
	s.count++
	return true
}

func (s *set) find(k key) *key {
	mask := uint64(len(s.slots) - 1)
	for i := k[0] & mask; ; i = (i + 1) & mask {
		if s.slots[i] == k || s.slots[i] == (key{}) {
			return &s.slots[i]
		}
	}
}

func (s *set) grow() {
	old := s.slots
	s.slots = make([]key, 2*len(old))
	for _, k := range old {
		if k != (key{}) {
			*s.find(k) = k
		}
	}
}
