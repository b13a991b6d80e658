// The program has one processor, however many it might have.
//
//go:debug updatemaxprocs=0

// Command locksmith-remote is locksmith with more kinds of locks: s3: and etcd:. Locksmith becomes this
// program if a lock of such a kind is named.
package main

import (
	"os"

	"locksmith/backends"
	"locksmith/backends/etcd"
	"locksmith/backends/s3"
	"locksmith/cmd/locksmith/cli"
	_ "locksmith/cmd/locksmith/singleproc" // for its effect: one processor
)

func main() {
	os.Exit(cli.With(
		backends.Kind{Scheme: backends.S3(), Open: s3.Open, Key: s3.Key},
		backends.Kind{Scheme: backends.Etcd(), Open: etcd.Open, Key: etcd.Key},
	)(os.Args[1:]))
}
