// Package singleproc gives the program that imports it one processor from the beginning, and its
// main goroutine a stack that need not grow. It is
// our only package whose import does something. Only a main package, which owns its process, may
// import it.
//
// A helper mostly waits, perhaps for days, and continues with one processor anyhow. If the
// initialisers of libraries used a second one, the memory for that would cost 0.4 MiB to give up
// later. Packages that do not depend on each other are initialised in the order of their paths
// (go.dev/ref/spec, "Package initialization"). So this package, which needs only the runtime,
// comes before almost all others.
package singleproc

import "runtime"

var _ = runtime.GOMAXPROCS(1)

// A goroutine's stack begins with 2 KiB, and is copied into one of twice the size whenever it is too
// small. The runtime finds out what to copy in tables of the program, which it has to read from
// disk, page by page. So the stack of main takes the size that it needs while it is still almost
// empty.
var _ = growStack(0)

// growStack has a large frame.
//
//go:noinline
func growStack(at int) byte {
	var frame [8 << 10]byte
	return frame[at]
}
