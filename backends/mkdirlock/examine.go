package mkdirlock

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/examine"
)

// Examine implements backend.Backend.
func (l *Lock) Examine(ctx context.Context, e backend.Examination, tell backend.Tell) error {
	return examine.Place{
		Env: l.Env, NewDir: l.NewDir, Name: l.Name, DirStyle: l.Style == DirStyle, Address: l.Address, Fail: l.fail, Exists: l.exists,
	}.Examine(ctx, e, tell)
}
