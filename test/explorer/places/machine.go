//go:build unix

package places

import (
	"encoding/binary"
	"slices"

	"locksmith/test/explorer/steps"
)

// A Machine is what the kernel of one machine keeps.
type Machine struct {
	Lock   uint8    // the number of the file at the lock's path; 0: there is none
	files  []Inode  // sorted by number
	Opened []Opened // sorted by process and descriptor
	Asleep []Thread // in the order in which they came
}

// An Inode is a file that has a name or is open. A new file gets the number of one that is gone.
type Inode struct {
	Number  uint8
	Maker   uint8
	Content steps.Text
	Stamp   int32
}

// Opened is a descriptor of a process, and the file behind it.
type Opened struct {
	Process, FD, File uint8
	Locked, Seated    bool
}

// A Thread sleeps for the kernel lock of a file that its process has open.
type Thread struct{ Process, FD uint8 }

// CopyFrom makes m the same as n.
func (m *Machine) CopyFrom(n *Machine) {
	m.Lock = n.Lock
	m.files = append(m.files[:0], n.files...)
	m.Opened = append(m.Opened[:0], n.Opened...)
	m.Asleep = append(m.Asleep[:0], n.Asleep...)
}

// Encode writes the machine so that equal machines have equal bytes.
func (m *Machine) Encode(b []byte) []byte {
	b = append(b, m.Lock, uint8(len(m.files)))
	for _, f := range m.files {
		b = binary.AppendUvarint(append(b, f.Number, f.Maker), uint64(f.Content))
		b = binary.AppendUvarint(b, uint64(f.Stamp))
	}
	b = append(b, uint8(len(m.Opened)))
	for _, o := range m.Opened {
		b = append(b, o.Process, o.FD, o.File, uint8(steps.Bit(o.Locked)|steps.Bit(o.Seated)<<1))
	}
	b = append(b, uint8(len(m.Asleep)))
	for _, t := range m.Asleep {
		b = append(b, t.Process, t.FD)
	}
	return b
}

// Decode reads what Encode wrote. u returns the next number.
func (m *Machine) Decode(u func() uint64) {
	next := func() uint8 { return uint8(u()) }
	m.Lock = next()
	m.files = m.files[:0]
	for range next() {
		m.files = append(m.files, Inode{Number: next(), Maker: next(), Content: steps.Text(u()), Stamp: int32(u())})
	}
	m.Opened = m.Opened[:0]
	for range next() {
		o := Opened{Process: next(), FD: next(), File: next()}
		flags := next()
		o.Locked, o.Seated = flags&1 != 0, flags&2 != 0
		m.Opened = append(m.Opened, o)
	}
	m.Asleep = m.Asleep[:0]
	for range next() {
		m.Asleep = append(m.Asleep, Thread{Process: next(), FD: next()})
	}
}

// File returns the file with this number.
func (m *Machine) File(number uint8) *Inode {
	return &m.files[slices.IndexFunc(m.files, func(f Inode) bool { return f.Number == number })]
}

// At returns a descriptor of a process.
func (m *Machine) At(p int, fd int8) *Opened {
	return &m.Opened[slices.IndexFunc(m.Opened, func(o Opened) bool { return int(o.Process) == p && int8(o.FD) == fd })]
}

// Make makes the lock file, and returns its number.
func (m *Machine) Make(p int, now int32) uint8 {
	number := uint8(1)
	i := 0
	for ; i < len(m.files) && m.files[i].Number == number; i++ {
		number++
	}
	m.files = slices.Insert(m.files, i, Inode{Number: number, Maker: uint8(p), Stamp: now})
	m.Lock = number
	return number
}

// Open returns a new descriptor of a file.
func (m *Machine) Open(p int, file uint8) steps.Reply {
	o := Opened{Process: uint8(p), FD: 1, File: file}
	i := 0
	for ; i < len(m.Opened) && m.Opened[i].Process <= o.Process; i++ {
		if m.Opened[i].Process != o.Process {
			continue
		}
		if m.Opened[i].FD != o.FD {
			break
		}
		o.FD++
	}
	m.Opened = slices.Insert(m.Opened, i, o)
	return steps.OK(int64(o.FD))
}

// Tidy forgets files that nobody can reach any more.
func (m *Machine) Tidy() {
	m.files = slices.DeleteFunc(m.files, func(f Inode) bool {
		return f.Number != m.Lock && !slices.ContainsFunc(m.Opened, func(o Opened) bool { return o.File == f.Number })
	})
}

// IsLocked reports whether a process has the kernel lock of a file.
func (m *Machine) IsLocked(file uint8) bool {
	return slices.ContainsFunc(m.Opened, func(o Opened) bool { return o.File == file && o.Locked })
}

// Seated returns how many watch a file.
func (m *Machine) Seated(file uint8) (n int) {
	for _, o := range m.Opened {
		n += steps.Bit(o.File == file && o.Seated)
	}
	return n
}

// Next reports whether thread i is the first that sleeps for its file, and the file's kernel lock
// is free.
func (m *Machine) Next(i int) bool {
	if i >= len(m.Asleep) {
		return false
	}
	fileOf := func(t Thread) uint8 { return m.At(int(t.Process), int8(t.FD)).File }
	file := fileOf(m.Asleep[i])
	return !m.IsLocked(file) && !slices.ContainsFunc(m.Asleep[:i], func(t Thread) bool { return fileOf(t) == file })
}
