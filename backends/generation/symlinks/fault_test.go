//go:build unix

package symlinks

import (
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

// faults hit only calls that change something, but for the last.
func faults() (all []faulty.Fault) {
	full := func(o faulty.Call) bool { return asks(o) || o.Op == "rmdir" || o.Op == "unlink" }
	add := func(code protocol.Code, f faulty.Fault, errs ...error) {
		for _, f.Err = range errs {
			f.Code = code
			all = append(all, f)
		}
	}
	for _, lasts := range []int{0, faulty.AtLast} {
		add(protocol.CannotCreate, faulty.Fault{Lasts: lasts, Spares: full}, unix.ENOSPC, unix.EDQUOT)
		add(protocol.CannotCreate, faulty.Fault{Lasts: lasts, Spares: asks}, unix.EROFS)
		add(protocol.Permission, faulty.Fault{Lasts: lasts, Spares: asks}, unix.EACCES)
	}
	for _, done := range []bool{false, true} {
		add(protocol.Unreachable, faulty.Fault{Done: done, Spares: asks}, unix.EIO, unix.ETIMEDOUT, unix.EHOSTUNREACH, unix.ESTALE, unix.EINTR)
		add(protocol.Unreachable, faulty.Fault{Done: done, Spares: asks, Lasts: faulty.AtLast}, unix.EIO)
	}
	for _, late := range []int{1, 2, 4, faulty.AtLast} {
		add(protocol.Unreachable, faulty.Fault{Late: late, Spares: asks}, unix.EIO)
	}
	// The answer is lost, to questions, too.
	add(protocol.Unreachable, faulty.Fault{Done: true}, unix.ETIMEDOUT, unix.ETIMEDOUT, unix.EIO)
	return all
}

// TestFaults lets each change in turn fail in every way, up to the last one.
func TestFaults(t *testing.T) { faulty.Run(t, modes(), faults(), memoryPlace) }

// TestLeases: whatever the server's clock says.
func TestLeases(t *testing.T) {
	for _, skew := range []time.Duration{0, time.Hour, -time.Hour} {
		faulty.Leases(t, modes(), faulty.Pace{Slack: slack}, func(t *testing.T) faulty.Place { return skewedPlace(t, skew) })
	}
}

func memoryPlace(t *testing.T) faulty.Place { return skewedPlace(t, 0) }

// skewedPlace is on a server whose clock is so much ahead.
func skewedPlace(t *testing.T, skew time.Duration) faulty.Place {
	m := &memory{}
	m.Skew = skew
	return faulty.Place{
		Lock: func(h backendtest.Host, hook faulty.Hook) faulty.Lock {
			return (&host{Host: h, dir: hooked(m, hook)}).lock()
		},
		Left:    func() []string { return untidy(t, m) },
		Ours:    func() []string { return reservations(t, m, "xt") },
		Unclear: backend.Unclear,
		Ends:    func(f *faulty.Fault) bool { return errors.Is(f.Err, unix.ESTALE) },
		// A stale handle means that the thing was removed. A user that may not set times may not lock there.
		Excuses: func(f *faulty.Fault, err error) bool {
			code := backend.CodeOf(err)
			return errors.Is(f.Err, unix.ESTALE) && code == protocol.Gone ||
				errors.Is(f.Err, unix.EACCES) && code == protocol.CannotCreate && strings.Contains(err.Error(), "no heartbeats")
		},
	}
}

// TestTimesRefused: without heartbeats there is no lock.
func TestTimesRefused(t *testing.T) {
	for _, errno := range []error{unix.EPERM, unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL} {
		inBubble(t, func(t *testing.T, m *memory) {
			here := newHost("here", hooked(m, func(o faulty.Call) error {
				if o.Op == "touch" {
					return errno
				}
				return o.Do()
			}))
			a := here.want(t, "exclusive")
			_, err := a.Try(t.Context())
			mustFail(t, err, protocol.CannotCreate, "no heartbeats")
			mustWithdraw(t, a)
			mustBeTidy(t, m)
		})
	}
}

// TestNoSymbolicLinks: a file system without symbolic links, such as vfat, is refused.
func TestNoSymbolicLinks(t *testing.T) {
	for _, errno := range []error{unix.EPERM, unix.EOPNOTSUPP, unix.ENOSYS} {
		inBubble(t, func(t *testing.T, m *memory) {
			here := newHost("here", hooked(m, func(o faulty.Call) error {
				if o.Op == "symlink" {
					return errno
				}
				return o.Do()
			}))
			_, err := here.want(t, "shared").Try(t.Context())
			mustFail(t, err, protocol.CannotCreate, "no symbolic links")
			mustBeTidy(t, m)
		})
	}
}

// TestRecordTooLong: some file systems take less than others in a symbolic link.
func TestRecordTooLong(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", hooked(m, func(o faulty.Call) error {
			if o.Op == "symlink" {
				return unix.ENAMETOOLONG
			}
			return o.Do()
		}))
		_, err := here.want(t, "exclusive").Try(t.Context())
		mustFail(t, err, protocol.Usage, "shorten the metadata")
		mustBeTidy(t, m)
	})
}

// TestUnclearIsNotHeld: an unclear answer to the one call that counts does not make the lock look
// held.
func TestUnclearIsNotHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", hooked(m, func(o faulty.Call) error {
			if o.Op == "symlink" && o.Name == lockName(1) {
				return unix.EIO
			}
			return o.Do()
		}))
		a := here.want(t, "exclusive")
		_, err := a.Try(t.Context())
		mustFail(t, err, protocol.Unreachable, "look at the server")
		mustWithdraw(t, a)
	})
}

// TestUnsureReservation: if neither the request for a reservation nor the heartbeat that should
// find it had an answer, the next try makes another one. The first may be made at any later moment,
// here after the generation that would name it.
func TestUnsureReservation(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		away := true
		var late func() error
		here := newHost("here", hooked(m, func(o faulty.Call) error {
			switch mine := away && strings.HasPrefix(o.Name, Reservations+"/x."); {
			case mine && o.Op == "mkdir":
				late = o.Do
				return unix.ETIMEDOUT
			case mine && o.Op == "touch":
				return unix.ETIMEDOUT
			case o.Op == "symlink" && o.Name == lockName(1):
				defer func() { _ = late() }()
			}
			return o.Do()
		}))
		a := here.want(t, "exclusive")
		_, err := a.Try(t.Context())
		mustFail(t, err, protocol.Unreachable, "look at the server")
		first := a.Mine.ID
		away = false
		h := mustHold(t, a)
		if h.ID() == first {
			t.Error("the next try takes the lock with a reservation of which nobody knows whether it was made")
		}
		mustRelease(t, h)
	})
}
