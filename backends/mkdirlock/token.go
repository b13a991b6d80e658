package mkdirlock

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

var _ backend.Fencer = (*Lock)(nil)

// NewestToken implements backend.Fencer. It changes the directory of the fences
// before it lists it: a client of NFS may believe an old listing otherwise.
func (l *Lock) NewestToken(ctx context.Context) (uint64, error) {
	if l.Style != TreeStyle || !l.Tokens {
		return 0, &backend.Error{Code: protocol.Usage, Lock: l.Address, Op: "look for the newest token", Err: backend.ErrNoTokens}
	}
	dir := l.NewDir()
	defer dir.Close()
	// Nobody takes it for anything but an empty reservation.
	probe := l.reservation(ticket{lease: owner.MinLease, id: l.NewID()})
	made := dir.Mkdir(ctx, probe)
	removed := dir.Rmdir(ctx, probe)
	if made != nil && removed != nil {
		there, err := l.contains(ctx, dir, ".", l.Name)
		if refused(made) && err == nil && !there {
			return 0, nil // never used
		}
		return 0, l.fail("change the directory of the lock", made)
	}
	names, err := dir.List(ctx, l.Name)
	if err != nil {
		return 0, l.fail("list fencing tokens", err)
	}
	return newestOf(fencesIn(names)), nil
}
