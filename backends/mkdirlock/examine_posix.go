//go:build unix

package mkdirlock

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
)

// Examine implements Peculiar.
func (d *directory) Examine(_ context.Context, name string, _ backend.Examination, tell backend.Tell) (rest func() error, err error) {
	doctor.DirNeeds{Removal: true}.Examine(d.at(name), tell)
	return nil, nil
}

var _ Peculiar = (*directory)(nil)
