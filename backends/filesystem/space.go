package filesystem

import (
	"fmt"

	"locksmith/backends/backend"
)

// What is little: locks need next to nothing, but other things grow.
const littleSpace, littleInodes = 16 << 20, 1000

// A room is what is free for this user.
type room struct {
	bytes, inodes uint64
	counted       bool // it has inodes by number
}

func (r room) String() string {
	text := fmt.Sprintf("%d MiB free", r.bytes>>20)
	if r.counted {
		text += fmt.Sprintf(", and %d inodes", r.inodes)
	}
	return text
}

func (r room) judge(tell backend.Tell) {
	const name, advice = "space", "free some: a lock that cannot be written cannot be held"
	switch {
	case r.bytes == 0 || r.counted && r.inodes == 0:
		tell.Unfit(name, r.String(), advice)
	case r.bytes < littleSpace || r.counted && r.inodes < littleInodes:
		tell.Weak(name, r.String(), advice)
	default:
		tell.Fit(name, r.String())
	}
}

func space(dir string, tell backend.Tell) {
	r, err := roomIn(dir)
	if err != nil {
		tell.Unknown("space", err.Error(), "see that some is free")
		return
	}
	r.judge(tell)
}
