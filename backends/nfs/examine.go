//go:build unix

package nfs

import (
	"context"
	"path/filepath"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/generation/symlinks"
	"locksmith/protocol"
)

// Examine implements backend.Backend.
func (l *lock) Examine(ctx context.Context, _ backend.Examination, tell backend.Tell) error {
	needs := doctor.DirNeeds{Hosts: true, Links: true}
	if err := l.check(ctx); err != nil {
		needs.System(tell) // which may be why
		if code := backend.CodeOf(err); code == protocol.CannotCreate || code == protocol.Permission {
			tell.Refusal("lock directory", err)
			return nil
		}
		return err
	}
	base := l.path
	if err := unix.Access(base, unix.F_OK); err != nil {
		base = filepath.Dir(base)
	}
	needs.Examine(base, tell)
	return symlinks.Examine(ctx, &directory{path: base}, base, tell, l.Fail)
}
