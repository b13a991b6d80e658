// Package servers has what the kinds of locks on servers share: when to connect again, which
// password to log in with, and how to speak of a server and of what is on it.
package servers

import (
	"errors"
	"strings"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// MaxSaid is how much of a server's text is shown, in bytes.
const MaxSaid = 200

// TryAgain is the advice if the server or the way to it failed.
const TryAgain = "look at the server and the network, then try again"

// An UnsentError says that a request was not sent, not even in part.
type UnsentError struct{ Cause error }

func (e *UnsentError) Error() string { return e.Cause.Error() }
func (e *UnsentError) Unwrap() error { return e.Cause }

// Password returns the password of the user in an address, and where it stands (backend.Access). It
// is "" if no password is known, or the address has no user.
func Password(a backend.Address, access backend.Access) (password, source string, err error) {
	if access.Password == nil || a.User == "" {
		return "", "", nil
	}
	password, source, err = access.Password(a.User, a.Host)
	var known *backend.Error
	switch {
	case errors.As(err, &known):
		return "", "", err
	case err != nil:
		return "", "", a.Name().Failure(protocol.Config, "find the password", err, "look at the file that it should be in")
	}
	return password, source, nil
}

// maxShown is how long a name may be before messages leave out its middle. A name that says who has
// a lock would hide the rest of the message.
const maxShown = 60

// ShortPath shortens the names in a path, for people.
func ShortPath(p string) string {
	names := strings.Split(p, "/")
	for i, name := range names {
		names[i] = ShortName(name)
	}
	return strings.Join(names, "/")
}

// ShortName shortens a name, for people.
func ShortName(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:20], "") + "…" + strings.ToValidUTF8(s[len(s)-8:], "")
}
