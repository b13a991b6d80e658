// The program has one processor, however many it might have.
//
//go:debug updatemaxprocs=0

// Command locksmith holds locks for other programs. See the README, or
// "locksmith help".
package main

import (
	"os"
	"path/filepath"

	"locksmith/cmd/locksmith/cli"
	_ "locksmith/cmd/locksmith/singleproc" // for its effect: one processor
)

func main() {
	args := os.Args[1:]
	if filepath.Base(os.Args[0]) == "flock" { // it is called by a link
		args = append([]string{"flock"}, args...)
	}
	os.Exit(cli.Main(args))
}
