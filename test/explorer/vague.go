package main

import (
	"errors"

	"golang.org/x/sys/unix"

	"locksmith/backends/nfs/generation"
	"locksmith/test/explorer/explore"
)

// vague is the code of nfs: on an SFTP server, which refuses all with one code: sftp: looks
// what is there, in a request of its own, and by then that may be something else.
func vague(e explore.Env) explore.Lock {
	return &generation.Lock{Dir: vagueDir{e.Dir()}, Address: "sftp://h/lock", Env: e.Owner()}
}

type vagueDir struct{ generation.Dir }

// isVague reports that an error would have been that code: ENOENT has one of its own, and
// without an answer there is none.
func isVague(err error) bool {
	return err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EIO)
}

func (v vagueDir) Mkdir(name string) error {
	return v.made(name, func() error { return v.Dir.Mkdir(name) })
}

func (v vagueDir) Symlink(target, name string) error {
	return v.made(name, func() error { return v.Dir.Symlink(target, name) })
}

// made asks once more where a name could not be made though it is not there.
func (v vagueDir) made(name string, request func() error) error {
	for range 2 {
		if err := request(); !isVague(err) {
			return err
		}
		_, err := v.Look(name)
		switch {
		case err == nil:
			return unix.EEXIST
		case !errors.Is(err, unix.ENOENT):
			return err
		}
	}
	return unix.ENOSPC
}

func (v vagueDir) Rmdir(name string) error {
	for range 2 {
		if err := v.Dir.Rmdir(name); !isVague(err) {
			return err
		}
		inside, err := v.List(name)
		switch {
		case err != nil:
			return err
		case len(inside) > 0:
			return unix.ENOTEMPTY
		}
	}
	return unix.ENOSPC
}
