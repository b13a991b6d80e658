package wine

import (
	"bytes"
	"encoding/binary"
)

// randomLibrary is a bcryptprimitives.dll, which every Go program wants and Wine before
// version 9 does not have. It is nothing but a table that says: what is called
// ProcessPrng here is advapi32's SystemFunction036, which fills memory likewise.
func randomLibrary() []byte {
	const base, fileOffset = 0x1000, 0x200
	le := binary.LittleEndian

	// The section: export directory, its three tables, and the names they point to.
	section := make([]byte, 0x200)
	const functions, names, ordinals, text = 40, 44, 48, 50
	library, function, forward := text, text+32, text+64
	copy(section[library:], "bcryptprimitives.dll")
	copy(section[function:], "ProcessPrng")
	copy(section[forward:], "advapi32.SystemFunction036")
	for at, value := range map[int]int{
		12: base + library, 16: 1, // name, first ordinal
		20: 1, 24: 1, 28: base + functions, 32: base + names, 36: base + ordinals,
		functions: base + forward, names: base + function,
	} {
		le.PutUint32(section[at:], uint32(value))
	}

	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, le, v) // to memory
		}
	}
	put([]byte("MZ"), make([]byte, 58), uint32(64))                                      // DOS header
	put([]byte("PE\x00\x00"), uint16(0x8664), uint16(1), make([]byte, 12), uint16(240))  // x64, one section
	put(uint16(0x2022))                                                                  // a library
	put(uint16(0x20b), uint16(0), uint32(0), uint32(len(section)), uint32(0), uint32(0)) // PE32+, no entry point
	put(uint32(base), uint64(0x6ab400000), uint32(0x1000), uint32(fileOffset))           // where it goes
	put(uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0), uint32(0))     // versions
	put(uint32(0x2000), uint32(fileOffset), uint32(0), uint16(3), uint16(0x100))         // sizes, subsystem
	put(uint64(0x100000), uint64(0x1000), uint64(0x100000), uint64(0x1000))              // stack and heap
	put(uint32(0), uint32(16), uint32(base), uint32(len(section)), make([]byte, 15*8))   // the export directory alone
	put([]byte(".edata\x00\x00"), uint32(len(section)), uint32(base))                    // the section
	put(uint32(len(section)), uint32(fileOffset), make([]byte, 12), uint32(0x40000040))  // read, data
	b.Write(make([]byte, fileOffset-b.Len()))
	b.Write(section)
	return b.Bytes()
}
