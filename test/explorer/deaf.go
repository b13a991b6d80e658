//go:build unix

package main

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"locksmith/backends/generation/symlinks"
	"locksmith/test/explorer/actors"
)

// deaf is the code of nfs: on a server that is away for a while: after a mkdir without an answer
// the next heartbeat has none either.
func deaf(e actors.Env) actors.Lock {
	return &symlinks.Lock{Dir: &deafDir{Dir: e.Dir()}, Address: "nfs:/lock", Env: e.Owner()}
}

type deafDir struct {
	symlinks.Dir
	away bool
}

func (d *deafDir) Mkdir(ctx context.Context, name string) error {
	err := d.Dir.Mkdir(ctx, name)
	d.away = errors.Is(err, unix.EIO)
	return err
}

func (d *deafDir) Touch(ctx context.Context, name string) error {
	if d.away {
		d.away = false
		return unix.EIO
	}
	return d.Dir.Touch(ctx, name)
}
