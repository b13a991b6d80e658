// Package singleproc gives the program that imports it one processor from the beginning. It
// is the one package of ours whose import does something: only a main package, whose
// process is its own, may import it.
//
// A helper mostly waits, for days perhaps, and goes on with one processor anyhow. What
// the initialisers of libraries take on a second one would cost it 0.4 MiB to give up
// later. Packages without a dependency between them are initialised in the order of
// their paths (go.dev/ref/spec, "Package initialization"), so that this one, which needs
// nothing but the runtime, comes before almost all others.
package singleproc

import "runtime"

var _ = runtime.GOMAXPROCS(1)
