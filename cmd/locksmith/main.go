// The program has one processor, however many it might have.
//
//go:debug updatemaxprocs=0

// Command locksmith holds locks for other programs. See the README, or
// "locksmith help".
package main

import (
	"os"

	"locksmith/cmd/locksmith/cli"
	_ "locksmith/cmd/locksmith/singleproc" // for its effect: one processor
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
