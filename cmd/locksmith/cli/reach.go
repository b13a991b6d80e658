package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/profile"
	"locksmith/protocol"
)

// A reach is how a command gets at locks, which are given as addresses or as
// names of profiles. A command calls flags, and then find or openLock for each lock.
type reach struct {
	insecure bool
	ca       string
	given    func(flag string) bool
}

// A target is a lock that was found: its address and profile, and what a server
// is told.
type target struct {
	*profile.Profile
	access backend.Access
	mode   string // from the lock's prefix; empty: none is given
}

func (r *reach) flags(c *cobra.Command) {
	f := c.Flags()
	r.given = f.Changed
	f.BoolVar(&r.insecure, "insecure", false, "accept any certificate: whoever sits between may read the password and answer for the server")
	f.StringVar(&r.ca, "ca", "", "trust the certificates in this PEM `file` instead of the system's")
	c.ValidArgsFunction = completeLock
}

// find finds a lock by its address or by the name of its profile.
func (r *reach) find(lock string) (*target, error) {
	if r.insecure && r.ca != "" {
		return nil, usageError{errors.New("--ca says whom to trust, --insecure trusts anybody: leave one")}
	}
	p, err := profile.System().Resolve(lock)
	if err != nil {
		return nil, err
	}
	return &target{Profile: p, access: r.over(p.Access())}, nil
}

// over puts the flags before what a profile says. Both flags answer the same
// question, so that one that is given leaves nothing of the profile's answer.
func (r *reach) over(a backend.Access) backend.Access {
	if r.given("ca") || r.given("insecure") && r.insecure {
		a.CA, a.Insecure = r.ca, r.insecure
	} else if r.given("insecure") {
		a.Insecure = false
	}
	return a
}

// open returns the lock, and its address in the canonical spelling.
func (t *target) open() (backend.Backend, string, error) {
	b, canonical, err := backends.Open(t.Lock, t.access)
	if err != nil && t.Name != "" && codeOf(err) == protocol.Usage {
		err = t.Wrong(err)
	}
	return b, canonical, err
}

// openLock finds a lock and opens it. Its address is the canonical one; after an error it
// is what may be shown of it.
func (r *reach) openLock(lock string) (b backend.Backend, address string, err error) {
	t, err := r.find(lock)
	if err != nil {
		return nil, lock, err
	}
	b, address, err = t.open()
	if err != nil {
		return nil, shownIn(err, lock), err
	}
	return b, address, nil
}

// shownIn is the lock as the innermost error about it shows it: without what
// may be a password.
func shownIn(err error, lock string) string {
	for {
		e, ok := errors.AsType[*backend.Error](err)
		if !ok {
			return lock
		}
		lock, err = e.Lock, e.Err
	}
}
