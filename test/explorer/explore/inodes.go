package explore

import (
	"encoding/binary"
	"slices"
)

// A machine is what the kernel keeps.
type machine struct {
	lock   uint8    // the number of the file at the lock's path; 0: there is none
	files  []inode  // sorted by number
	opened []opened // sorted by process and descriptor
	asleep []thread // in the order in which they came
}

// An inode is a file that has a name or is open. A new file gets the number of one that is gone.
type inode struct {
	number  uint8
	maker   uint8
	content text
	stamp   int32
}

type opened struct {
	process, fd, file uint8
	locked, seated    bool
}

// A thread sleeps for the kernel lock of a file that its process has open.
type thread struct{ process, fd uint8 }

func (m *machine) copyFrom(n *machine) {
	m.lock = n.lock
	m.files = append(m.files[:0], n.files...)
	m.opened = append(m.opened[:0], n.opened...)
	m.asleep = append(m.asleep[:0], n.asleep...)
}

func (m *machine) encode(b []byte) []byte {
	b = append(b, m.lock, uint8(len(m.files)))
	for _, f := range m.files {
		b = binary.AppendUvarint(append(b, f.number, f.maker), uint64(f.content))
		b = binary.AppendUvarint(b, uint64(f.stamp))
	}
	b = append(b, uint8(len(m.opened)))
	for _, o := range m.opened {
		b = append(b, o.process, o.fd, o.file, uint8(b2i(o.locked)|b2i(o.seated)<<1))
	}
	b = append(b, uint8(len(m.asleep)))
	for _, t := range m.asleep {
		b = append(b, t.process, t.fd)
	}
	return b
}

// decode reads what encode wrote. u returns the next number.
func (m *machine) decode(u func() uint64) {
	next := func() uint8 { return uint8(u()) }
	m.lock = next()
	m.files = m.files[:0]
	for range next() {
		m.files = append(m.files, inode{number: next(), maker: next(), content: text(u()), stamp: int32(u())})
	}
	m.opened = m.opened[:0]
	for range next() {
		o := opened{process: next(), fd: next(), file: next()}
		flags := next()
		o.locked, o.seated = flags&1 != 0, flags&2 != 0
		m.opened = append(m.opened, o)
	}
	m.asleep = m.asleep[:0]
	for range next() {
		m.asleep = append(m.asleep, thread{process: next(), fd: next()})
	}
}

func (m *machine) file(number uint8) *inode {
	return &m.files[slices.IndexFunc(m.files, func(f inode) bool { return f.number == number })]
}

func (m *machine) at(p int, fd int8) *opened {
	return &m.opened[slices.IndexFunc(m.opened, func(o opened) bool { return int(o.process) == p && int8(o.fd) == fd })]
}

// make makes the lock file, and returns its number.
func (m *machine) make(p int, now int32) uint8 {
	number := uint8(1)
	i := 0
	for ; i < len(m.files) && m.files[i].number == number; i++ {
		number++
	}
	m.files = slices.Insert(m.files, i, inode{number: number, maker: uint8(p), stamp: now})
	m.lock = number
	return number
}

// open returns a new descriptor of a file.
func (m *machine) open(p int, file uint8) reply {
	o := opened{process: uint8(p), fd: 1, file: file}
	i := 0
	for ; i < len(m.opened) && m.opened[i].process <= o.process; i++ {
		if m.opened[i].process != o.process {
			continue
		}
		if m.opened[i].fd != o.fd {
			break
		}
		o.fd++
	}
	m.opened = slices.Insert(m.opened, i, o)
	return ok(int64(o.fd))
}

// tidy forgets files that nobody can reach any more.
func (m *machine) tidy() {
	m.files = slices.DeleteFunc(m.files, func(f inode) bool {
		return f.number != m.lock && !slices.ContainsFunc(m.opened, func(o opened) bool { return o.file == f.number })
	})
}

func (m *machine) isLocked(file uint8) bool {
	return slices.ContainsFunc(m.opened, func(o opened) bool { return o.file == file && o.locked })
}

func (m *machine) seated(file uint8) (n int) {
	for _, o := range m.opened {
		n += b2i(o.file == file && o.seated)
	}
	return n
}

// next reports whether thread i is the first that sleeps for its file, and the file's kernel lock
// is free.
func (m *machine) next(i int) bool {
	if i >= len(m.asleep) {
		return false
	}
	fileOf := func(t thread) uint8 { return m.at(int(t.process), int8(t.fd)).file }
	file := fileOf(m.asleep[i])
	return !m.isLocked(file) && !slices.ContainsFunc(m.asleep[:i], func(t thread) bool { return fileOf(t) == file })
}
