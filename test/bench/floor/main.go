// Command floor is what the benchmark measures locksmith against: a Go program that
// does next to nothing, so that its time is that of the Go runtime and of the command.
package main

import "locksmith/test/bench/bare"

func main() { bare.Main() }
