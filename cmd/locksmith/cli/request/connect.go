package request

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/profile"
	"locksmith/protocol"
)

// A Connect has the flags of how to reach locks, which are given as addresses or as names of
// profiles. A command calls Add, and then Open for each lock.
type Connect struct {
	Insecure bool
	CA       string
	given    func(flag string) bool
	program  Program
}

// Leaseless reports whether the kernel frees the lock at an address, and no lease does.
func (c *Connect) Leaseless(address string) bool { return c.program.Kinds.Leaseless(address) }

// A Target is a lock that was found: its address and profile, and what a server is told.
type Target struct {
	*profile.Profile
	access backend.Access
	mode   string // from the lock's prefix; empty if there is none
}

// An opener is Open or OpenPlace of backends.Kinds.
type opener func(address string, access backend.Access) (backend.Backend, string, error)

// Add declares the flags, and what shells complete a lock with. If some lock needs another
// program, this one becomes that program before the command does anything.
func (c *Connect) Add(command *cobra.Command, p Program) {
	c.program = p
	f := command.Flags()
	c.given = f.Changed
	f.BoolVar(&c.Insecure, "insecure", false, "accept any certificate: whoever sits between may read the password and answer for the server")
	f.StringVar(&c.CA, "ca", "", "trust the certificates in this PEM `file` instead of the system's")
	command.ValidArgsFunction = c.CompleteLock
	command.PreRunE = func(_ *cobra.Command, args []string) error { return p.become(args) }
}

// find finds a lock by its address or by the name of its profile.
func (c *Connect) find(lock string) (*Target, error) {
	if c.Insecure && c.CA != "" {
		return nil, flags.Usagef("--ca says whom to trust, --insecure trusts anybody: leave one")
	}
	p, err := profile.System().Resolve(lock)
	if err != nil {
		return nil, err
	}
	return &Target{Profile: p, access: c.over(p.Access())}, nil
}

// over puts the flags before what a profile says. Both flags answer the same question. So one of
// them replaces all of the profile's answer.
func (c *Connect) over(a backend.Access) backend.Access {
	if c.given("ca") || c.given("insecure") && c.Insecure {
		a.CA, a.Insecure = c.CA, c.Insecure
	} else if c.given("insecure") {
		a.Insecure = false
	}
	return a
}

// open returns the lock, and its address in the canonical spelling.
func (t *Target) open(open opener) (backend.Backend, string, error) {
	b, canonical, err := open(t.Lock, t.access)
	if err != nil && t.Name != "" && backend.CodeOf(err) == protocol.Usage {
		err = t.Wrong(err)
	}
	return b, canonical, err
}

// Open finds a lock and opens it. address is the canonical one; after an error, what may be
// shown of it.
func (c *Connect) Open(lock string) (b backend.Backend, address string, err error) {
	return c.open(lock, c.program.Kinds.Open)
}

// OpenPlace is Open for a directory that locks may be in.
func (c *Connect) OpenPlace(place string) (b backend.Backend, address string, err error) {
	return c.open(place, c.program.Kinds.OpenPlace)
}

// List tells of the locks in a directory that OpenPlace has opened.
func (c *Connect) List(ctx context.Context, b backend.Backend, address string, l backend.Listing) error {
	return c.program.Kinds.List(ctx, b, address, l)
}

func (c *Connect) open(lock string, open opener) (b backend.Backend, address string, err error) {
	t, err := c.find(lock)
	if err != nil {
		return nil, lock, err
	}
	b, address, err = t.open(open)
	if err != nil {
		return nil, shownIn(err, lock), err
	}
	return b, address, nil
}

// NotAPlace is the error of a directory of locks that was given as the name of a profile. A
// profile names a lock, so the path is right and the question is wrong.
func (c *Connect) NotAPlace(place, canonical string, err error) error {
	code := backend.CodeOf(err)
	p, unknown := profile.System().Resolve(place)
	if code != protocol.CannotCreate && code != protocol.Usage || unknown != nil || p.Name == "" {
		return err
	}
	lock, _, _ := strings.Cut(p.Lock, "?")
	if strings.HasSuffix(lock, "/") { // it is a directory on purpose
		return err
	}
	return &backend.Error{Code: protocol.Usage, Lock: canonical, Op: "look for locks in profile " + p.Name,
		Err:  fmt.Errorf("it names a lock, not a directory of locks (%s)", backend.Reason(err)),
		Hint: fmt.Sprintf("for one lock: locksmith status %s; or write the directory's address: %s", p.Name, backend.ShellWord(above(canonical)))}
}

// above is the address of the directory that a lock is in.
func above(address string) string {
	lock, options, has := strings.Cut(address, "?")
	dir := lock[:max(strings.LastIndexByte(lock, '/'), 0)]
	if dir == "" || strings.HasSuffix(dir, ":") || strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	if has {
		dir += "?" + options
	}
	return dir
}

// shownIn is the lock as the innermost error about it shows it: without what may be a password.
func shownIn(err error, lock string) string {
	for {
		e, ok := errors.AsType[*backend.Error](err)
		if !ok {
			return lock
		}
		lock, err = e.Lock, e.Err
	}
}
