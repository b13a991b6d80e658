//go:build unix

package mkdirlock

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/filesystem"
)

// Examine implements Peculiar.
func (d *directory) Examine(_ context.Context, name string, _ backend.Examination, tell backend.Tell) (rest func() error, err error) {
	filesystem.Needs{Removal: true}.Examine(d.at(name), tell)
	return nil, nil
}

var _ Peculiar = (*directory)(nil)
