//go:build unix

package main

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"locksmith/backends/generation/symlinks"
	"locksmith/test/explorer/actors"
)

// vague is the code of nfs: on an SFTP server, which has only one code for all refusals. So sftp:
// looks what is there, in a request of its own, and by then that may be something else.
func vague(e actors.Env) actors.Lock {
	return &symlinks.Lock{Dir: vagueDir{e.Dir()}, Address: "sftp://h/lock", Env: e.Owner()}
}

type vagueDir struct{ symlinks.Dir }

// isVague reports whether the server would have said that one code. ENOENT has a code of its own,
// and without an answer there is no code.
func isVague(err error) bool {
	return err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EIO)
}

func (v vagueDir) Mkdir(ctx context.Context, name string) error {
	return v.made(name, func() error { return v.Dir.Mkdir(ctx, name) })
}

func (v vagueDir) Symlink(ctx context.Context, target, name string) error {
	return v.made(name, func() error { return v.Dir.Symlink(ctx, target, name) })
}

// made repeats a request once if the name could not be made although it does not exist.
func (v vagueDir) made(name string, request func() error) error {
	for range 2 {
		if err := request(); !isVague(err) {
			return err
		}
		_, err := v.Look(context.Background(), name)
		switch {
		case err == nil:
			return unix.EEXIST
		case !errors.Is(err, unix.ENOENT):
			return err
		}
	}
	return unix.ENOSPC
}

func (v vagueDir) Rmdir(ctx context.Context, name string) error {
	for range 2 {
		if err := v.Dir.Rmdir(ctx, name); !isVague(err) {
			return err
		}
		inside, err := v.List(ctx, name)
		switch {
		case err != nil:
			return err
		case len(inside) > 0:
			return unix.ENOTEMPTY
		}
	}
	return unix.ENOSPC
}
