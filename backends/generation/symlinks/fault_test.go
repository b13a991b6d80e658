//go:build unix

package symlinks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// A fault makes calls fail, from the nth call that changes something.
type fault struct {
	err   error
	done  bool // the call has its effect all the same
	lasts bool // else only that one call fails
	from  int
	code  protocol.Code // the code that the user must see; "": the fault must not matter
	// creates: only calls that make something fail, as on a full disk.
	creates bool
	met     bool
	cured   bool
}

func (f *fault) String() string {
	return fmt.Sprintf("%v, done: %v, lasts: %v", f.err, f.done, f.lasts)
}

func (f *fault) hits(o operation) bool {
	if o.asks() || f.cured || f.creates && (o.call == "rmdir" || o.call == "unlink") {
		return false
	}
	f.from--
	return f.from == 0 || f.from < 0 && f.lasts
}

func (f *fault) on(dir Dir) Dir {
	return hooked{dir, func(o operation) error {
		if !f.hits(o) {
			return o.do()
		}
		f.met = true
		if f.done {
			_ = o.do()
		}
		return f.err
	}}
}

var faults = []fault{
	{err: unix.ENOSPC, creates: true, code: protocol.CannotCreate},
	{err: unix.ENOSPC, creates: true, lasts: true, code: protocol.CannotCreate},
	{err: unix.EDQUOT, creates: true, code: protocol.CannotCreate},
	{err: unix.EDQUOT, creates: true, lasts: true, code: protocol.CannotCreate},
	{err: unix.EROFS, code: protocol.CannotCreate},
	{err: unix.EROFS, lasts: true, code: protocol.CannotCreate},
	{err: unix.EACCES, code: protocol.Permission},
	{err: unix.EACCES, lasts: true, code: protocol.Permission},
	{err: unix.EIO, code: protocol.Unreachable},
	{err: unix.EIO, lasts: true, code: protocol.Unreachable},
	{err: unix.EIO, done: true, code: protocol.Unreachable},
	{err: unix.EIO, done: true, lasts: true, code: protocol.Unreachable},
	{err: unix.ETIMEDOUT, code: protocol.Unreachable},
	{err: unix.ETIMEDOUT, done: true, code: protocol.Unreachable},
	{err: unix.EHOSTUNREACH, code: protocol.Unreachable},
	{err: unix.EHOSTUNREACH, done: true, code: protocol.Unreachable},
	{err: unix.ESTALE, code: protocol.Unreachable},
	{err: unix.ESTALE, done: true, code: protocol.Unreachable},
	{err: unix.EINTR, code: protocol.Unreachable},
	{err: unix.EINTR, done: true, code: protocol.Unreachable},
}

// TestFaults takes and releases the lock, and lets each change in turn fail, up to the last one.
func TestFaults(t *testing.T) {
	for _, mode := range modes() {
		for _, before := range []string{"unused", "free", "left by a dead one", "shared by others"} {
			if before == "shared by others" && mode == "exclusive" {
				continue
			}
			for i := range faults {
				t.Run(name(mode, ", ", before, ", ", &faults[i]), func(t *testing.T) {
					for n := 1; faultAt(t, n, faults[i], mode, before) && !t.Failed(); n++ {
					}
				})
			}
		}
	}
}

// faultAt reports whether the fault was met.
func faultAt(t *testing.T, n int, f fault, mode, before string) bool {
	inBubble(t, func(t *testing.T, m *memory) {
		others := prepare(t, m, mode, before)
		old := reservations(t, m, "xt")
		f.from = n
		here := newHost("here", f.on(m))
		err := wholeLife(t, here, &f, mode)
		if err != nil && !excused(err, &f) {
			t.Errorf("change %d fails: the user sees %v, want code %s", n, err, f.code)
		}
		left := slices.DeleteFunc(reservations(t, m, "xt"), func(name string) bool { return slices.Contains(old, name) })
		if len(left) > 0 {
			t.Errorf("change %d fails (%v): left behind: %q", n, err, left)
		}
		for _, h := range others {
			mustStillHold(t, h)
			mustRelease(t, h)
		}
		mustBecomeTidy(t, m)
		if t.Failed() {
			t.Logf("it was change %d", n)
		}
	})
	return f.met
}

// excused accepts only the code that tells the truth. A stale handle means that the thing was
// removed. A user that may not set times may not lock there.
func excused(err error, f *fault) bool {
	code := backend.CodeOf(err)
	switch {
	case !f.met:
		return false
	case errors.Is(f.err, unix.ESTALE) && code == protocol.Gone:
		return true
	case errors.Is(f.err, unix.EACCES) && strings.Contains(err.Error(), "no heartbeats"):
		return code == protocol.CannotCreate
	}
	return code == f.code
}

func prepare(t *testing.T, m *memory, mode, before string) []*hold {
	t.Helper()
	there := newHost("here", m)
	switch before {
	case "free":
		mustRelease(t, there.take(t, mode))
	case "left by a dead one":
		r := there.Request(mode)
		r.Owner.Helper.PID = 7
		mustHold(t, there.ask(t, r))
	case "shared by others":
		return []*hold{there.take(t, "shared")}
	}
	return nil
}

// wholeLife takes the lock and releases it, and tries again where a fault may pass. The fault is
// cured before what is left is removed.
func wholeLife(t *testing.T, here *host, f *fault, mode string) error {
	t.Helper()
	here.Dead[7] = true
	a := here.want(t, mode)
	h, err := a.Try(t.Context())
	var held *backend.HeldError
	for range 5 { // a lock that is held for a moment only becomes free
		if !errors.As(err, &held) {
			break
		}
		if err = a.Wait(t.Context()); err == nil {
			h, err = a.Try(t.Context())
		}
	}
	if err != nil {
		f.cured = true
		mustWithdraw(t, a)
		return err
	}
	if err := h.Heartbeat(t.Context()); err != nil {
		_ = h.Release(t.Context())
		f.cured = true
		return errors.Join(err, again(t, h))
	}
	if err := h.Release(t.Context()); err != nil {
		f.cured = true
		return errors.Join(err, again(t, h))
	}
	return nil
}

// again releases a second time. That nothing is left to release is no error here.
func again(t *testing.T, h backend.Hold) error {
	err := h.Release(t.Context())
	if errors.Is(err, backend.ErrGone) {
		return nil
	}
	return err
}

// mustBecomeTidy takes the lock, and tends it until all leases of what may be left are over.
func mustBecomeTidy(t *testing.T, m *memory) {
	t.Helper()
	here := newHost("here", m)
	here.Dead[7] = true
	h := mustAcquire(t, here.want(t, "exclusive"))
	for range 6 { // a record is watched only after its reservation is gone
		mustStillHold(t, h)
		if err := h.Tend(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(leaseAndDrift - time.Second)
		mustStillHold(t, h)
		time.Sleep(2 * time.Second)
	}
	mustRelease(t, h)
	mustBeTidy(t, m)
}

// TestTimesRefused: without heartbeats there is no lock.
func TestTimesRefused(t *testing.T) {
	for _, errno := range []error{unix.EPERM, unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL} {
		inBubble(t, func(t *testing.T, m *memory) {
			here := newHost("here", hooked{m, func(o operation) error {
				if o.call == "touch" {
					return errno
				}
				return o.do()
			}})
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
			here := newHost("here", hooked{m, func(o operation) error {
				if o.call == "symlink" {
					return errno
				}
				return o.do()
			}})
			_, err := here.want(t, "shared").Try(t.Context())
			mustFail(t, err, protocol.CannotCreate, "no symbolic links")
			mustBeTidy(t, m)
		})
	}
}

// TestRecordTooLong: some file systems take less than others in a symbolic link.
func TestRecordTooLong(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", hooked{m, func(o operation) error {
			if o.call == "symlink" {
				return unix.ENAMETOOLONG
			}
			return o.do()
		}})
		_, err := here.want(t, "exclusive").Try(t.Context())
		mustFail(t, err, protocol.Usage, "shorten the metadata")
		mustBeTidy(t, m)
	})
}

// TestUnclearIsNotHeld: an unclear answer to the one call that counts does not make the lock look
// held.
func TestUnclearIsNotHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		here := newHost("here", hooked{m, func(o operation) error {
			if o.call == "symlink" && o.name == lockName(1) {
				return unix.EIO
			}
			return o.do()
		}})
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
		here := newHost("here", hooked{m, func(o operation) error {
			switch mine := away && strings.HasPrefix(o.name, Reservations+"/x."); {
			case mine && o.call == "mkdir":
				late = o.do
				return unix.ETIMEDOUT
			case mine && o.call == "touch":
				return unix.ETIMEDOUT
			case o.call == "symlink" && o.name == lockName(1):
				defer func() { _ = late() }()
			}
			return o.do()
		}})
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
