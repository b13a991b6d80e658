// Package singleproc gives the program that imports it one processor from the beginning. It is
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
