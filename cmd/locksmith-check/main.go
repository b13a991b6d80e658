//go:build unix

// Command locksmith-check says where a helper or a parent, in whatever language, breaks the
// protocol: see package helpers.
package main

import (
	"os"

	"locksmith/test/helpers"
)

func main() { os.Exit(helpers.Main(os.Args, os.Stdout, os.Stderr)) }
