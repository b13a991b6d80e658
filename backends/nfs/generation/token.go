//go:build unix

package generation

import (
	"context"
	"errors"

	"locksmith/backends/owner"
)

// NewestToken is the method of backend.Backend. It changes the directory of generations
// first, as step 3 of those who share does: a listing may be older than it looks.
func (l *Lock) NewestToken(ctx context.Context) (uint64, error) {
	for range maxRaces {
		n, err := l.newest()
		if !errors.Is(err, errAgain) || ctx.Err() != nil {
			return n, err
		}
	}
	return 0, l.Fail("look for the newest token", errAgain)
}

func (l *Lock) newest() (uint64, error) {
	t := ticket{lease: owner.MinLease, id: l.NewID()}
	err := l.probe(t)
	if absent(err) {
		// That it is missing this host may only remember.
		if _, err := l.look(Generations); absent(err) {
			return 0, nil
		} else if err != nil {
			return 0, l.Fail("list generations", err)
		}
		err = l.probe(t)
	}
	if err != nil {
		return 0, err
	}
	names, err := l.names(Generations)
	if err != nil {
		return 0, l.Fail("list generations", err)
	}
	all, err := l.parse(names)
	return all.newest(), err
}
