//go:build unix

package mkdirlock

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/faulty"
)

func faults() []faulty.Fault {
	refusal, lost := dirs.Outcome(unix.EEXIST), dirs.Outcome(unix.ETIMEDOUT)
	all := []faulty.Fault{
		{Err: refusal, Code: protocol.CannotCreate},
		{Err: dirs.Outcome(unix.EACCES), Lasts: faulty.Long, Code: protocol.Permission},
		{Err: dirs.Outcome(unix.ENOSPC), Code: protocol.CannotCreate},
		{Err: faulty.Away(), Code: protocol.Unreachable},
		{Err: dirs.ErrBusy, Lasts: faulty.Long, Code: protocol.Unreachable},
		{Err: lost, Code: protocol.Unreachable},
		{Err: lost, Lasts: faulty.Long, Code: protocol.Unreachable},
		{Err: lost, Done: true, Code: protocol.Unreachable},
		{Err: lost, Done: true, Lasts: faulty.Long, Code: protocol.Unreachable},
	}
	for _, late := range []int{1, 2, 4, faulty.AtLast} {
		all = append(all, faulty.Fault{Err: lost, Late: late, Code: protocol.Unreachable})
	}
	return all
}

// TestLeases: after a lease of silence, and by proof at once.
func TestLeases(t *testing.T) {
	for _, k := range everyKind {
		t.Run(name(k), func(t *testing.T) {
			faulty.Leases(t, modes(k), faulty.Pace{Slack: slack, Pause: lease / 2, Away: []error{faulty.Away(), dirs.ErrBusy, dirs.ErrUnclear}}, memoryPlace(k, habits{}, slow))
		})
	}
}

// rare keeps the number of calls small.
var rare = Pace{Min: 10 * time.Second, Max: 30 * time.Second}

// memoryPlace makes a directory on a server of these habits.
func memoryPlace(k kindOfLock, servers habits, here Pace) func(*testing.T) faulty.Place {
	return func(t *testing.T) faulty.Place {
		m := newMemory(servers)
		if k.style == DirStyle { // as after earlier use
			mustRelease(t, newHost("here", m, k).take(t, "exclusive"))
		}
		orphaned := func(f *faulty.Fault) bool { return mayOrphan(k, f) && slices.Equal(lockTree(m), []string{"L"}) }
		return faulty.Place{
			Lock: func(h backendtest.Host, hook faulty.Hook) faulty.Lock {
				pace := slow
				if h.Name == "here" {
					pace = here
				}
				return (&host{h, hooked(m, hook), k, pace}).lock()
			},
			Left:    func() []string { return untidy(m, k) },
			Unclear: dirs.Unclear,
			// A server that refuses without a reason leaves only permissions to explain it.
			Excuses: func(f *faulty.Fault, err error) bool {
				code := backend.CodeOf(err)
				return dirs.Refused(f.Err) && (code == protocol.Permission || code == protocol.Gone && strings.HasPrefix(f.First(), "list") || orphaned(f))
			},
			MayBlock: func(f *faulty.Fault) bool { return mayOrphan(k, f) },
			Unblock:  func() bool { return slices.Equal(lockTree(m), []string{"L"}) && m.Rmdir(t.Context(), "L") == nil },
		}
	}
}

// mayOrphan reports that there may be an empty L after a fault. In plain style that is allowed after
// an unclear answer, after a commit that was refused without a reason, or if what is there could not
// be seen.
func mayOrphan(k kindOfLock, f *faulty.Fault) bool {
	first := f.First()
	blind := strings.HasPrefix(first, "list") || first == "rmdir L"
	// A commit that is refused, though the server would have made it, looks as if
	// somebody had taken L from us: then it is not ours to remove.
	denied := strings.HasPrefix(first, "rename L.r.") && strings.HasSuffix(first, " L")
	return k.style == PlainStyle && (dirs.Unclear(f.Err) || blind || denied)
}

func lockTree(m *memory) []string {
	return slices.DeleteFunc(m.All(), func(name string) bool {
		return name != "L" && !strings.HasPrefix(name, "L/")
	})
}

// TestFaults lets each call in turn fail in every way, up to the last one.
func TestFaults(t *testing.T) {
	for _, k := range []kindOfLock{plain, numbered} {
		t.Run(name(k), func(t *testing.T) { faulty.Run(t, modes(k), faults(), memoryPlace(k, habits{}, rare)) })
	}
}

// TestFaultsOfServers does the same with servers of other habits.
func TestFaultsOfServers(t *testing.T) {
	some := slices.DeleteFunc(faults(), func(f faulty.Fault) bool {
		return f.Lasts > 0 || f.Late > 0 || !dirs.Refused(f.Err) && !f.Done
	})
	for about, h := range map[string]habits{"no overwriting": {noOverwrite: true}, "missing is empty": {missingIsEmpty: true}, "empty is refused": {emptyIsRefused: true}} {
		for _, k := range []kindOfLock{plain, dirStyle} {
			t.Run(name(about, " ", k), func(t *testing.T) { faulty.Run(t, []string{"exclusive"}, some, memoryPlace(k, h, rare)) })
		}
	}
}
