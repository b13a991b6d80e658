//go:build unix

package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// A fault is what becomes of the nth call.
type fault struct {
	err  error
	done bool // the call has its effect all the same
	// late: the call has its effect when so many more calls have begun, whoever makes them.
	late  int
	lasts int // how many more calls fail alike
	code  protocol.Code

	n     int
	met   bool
	cured bool
	left  func() error // the effect that is still to come
	told  string       // the call that failed
}

func (f fault) String() string {
	s := f.err.Error()
	switch {
	case f.done:
		s += ", but done"
	case f.late == atLast:
		s += ", done at last"
	case f.late > 0:
		s += fmt.Sprintf(", done %d later", f.late)
	}
	if f.lasts > 0 {
		s += ", lasting"
	}
	return s
}

const (
	atLast = 1 << 20
	long   = 40 // more calls than anybody makes before it gives up
)

// unclearly reports that a call may have had its effect though it failed.
func (f *fault) unclearly() bool { return dirs.Unclear(f.err) }

func away() error {
	return &backend.Error{Code: protocol.Unreachable, Lock: "mkdir:/L", Op: "connect", Err: errors.New("no route to host")}
}

func faults() []fault {
	refusal, lost := dirs.Outcome(unix.EEXIST), dirs.Outcome(unix.ETIMEDOUT)
	all := []fault{
		{err: refusal, code: protocol.CannotCreate},
		{err: dirs.Outcome(unix.EACCES), lasts: long, code: protocol.Permission},
		{err: dirs.Outcome(unix.ENOSPC), code: protocol.CannotCreate},
		{err: away(), code: protocol.Unreachable},
		{err: dirs.ErrBusy, lasts: long, code: protocol.Unreachable},
		{err: lost, code: protocol.Unreachable},
		{err: lost, lasts: long, code: protocol.Unreachable},
		{err: lost, done: true, code: protocol.Unreachable},
		{err: lost, done: true, lasts: long, code: protocol.Unreachable},
	}
	for _, late := range []int{1, 2, 4, atLast} {
		all = append(all, fault{err: lost, late: late, code: protocol.Unreachable})
	}
	return all
}

// on is the Dir of the process that the fault hits.
func (f *fault) on(dir dirs.Dir) dirs.Dir {
	return hooked{dir, func(o operation) error {
		f.tick()
		f.n--
		if f.cured || f.n > 0 || f.n < -f.lasts {
			return o.do()
		}
		if !f.met {
			f.met, f.told = true, o.String()
		}
		switch {
		case f.done:
			_ = o.do()
		case f.late > 0 && o.call != "list":
			f.left = o.do
		}
		return f.err
	}}
}

// beside is the Dir of everybody else.
func (f *fault) beside(dir dirs.Dir) dirs.Dir {
	return hooked{dir, func(o operation) error { f.tick(); return o.do() }}
}

func (f *fault) tick() {
	if f.left == nil {
		return
	}
	if f.late--; f.late <= 0 {
		f.flush()
	}
}

func (f *fault) flush() {
	if f.left != nil {
		_ = f.left()
		f.left = nil
	}
}

// rare keeps the number of calls small.
var rare = Pace{Min: 10 * time.Second, Max: 30 * time.Second}

// A scene is somebody's life with a fault in it.
type scene struct {
	*testing.T
	memory *memory
	kind   kindOfLock
	mode   string
	fault  *fault

	told []error // the errors that we were told
}

func (s *scene) victim() *host {
	h := newHost("here", s.fault.on(s.memory), s.kind)
	h.Dead[7], h.pace = true, rare
	return h
}

// neighbour is a host like the victim's; no fault hits its calls.
func (s *scene) neighbour() *host {
	h := newHost("here", s.fault.beside(s.memory), s.kind)
	h.Dead[7], h.pace = true, rare
	return h
}

func (s *scene) tell(err error) {
	if err != nil {
		s.told = append(s.told, err)
	}
}

// scenes are what the process that the fault hits may be doing.
var scenes = []struct {
	name string
	play func(*scene)
}{
	{"acquire", playAcquire},
	{"acquire from a dead one", func(s *scene) {
		mustHold(s.T, s.neighbour().ask(s.T, s.neighbour().by(7, s.mode)))
		playAcquire(s)
	}},
	{"acquire from a silent one", func(s *scene) {
		newHost("elsewhere", s.memory, s.kind).take(s.T, s.mode)
		playAcquire(s)
	}},
	{"wait", func(s *scene) {
		h := s.neighbour().take(s.T, "exclusive")
		time.AfterFunc(3*time.Second, func() { _ = h.Release(context.Background()) })
		playAcquire(s)
	}},
	{"withdraw", playWithdraw},
	{"break", playBreak},
	{"tend", playTend},
}

func playAcquire(s *scene) {
	a := s.victim().want(s.T, s.mode)
	ctx, cancel := context.WithTimeout(s.Context(), 3*lease)
	defer cancel()
	var h backend.Hold
	for {
		var err error
		if h, err = a.Try(ctx); err == nil {
			break
		}
		s.tell(err)
		var held *backend.HeldError
		if errors.As(err, &held) {
			err = a.Wait(ctx)
		}
		if err != nil {
			s.withdraw(a)
			return
		}
	}
	s.hold(h)
}

// hold does what a holder does until it leaves.
func (s *scene) hold(h backend.Hold) {
	for range 3 {
		s.mustKeepOut("the victim")
		err := h.Heartbeat(s.Context())
		for range 3 {
			if err == nil || errors.Is(err, backend.ErrGone) {
				break
			}
			s.tell(err)
			err = h.Heartbeat(s.Context())
		}
		if errors.Is(err, backend.ErrGone) {
			s.Errorf("the heartbeat says that the lock is gone, and nobody broke it: %v", err)
		}
		time.Sleep(time.Second)
	}
	err := h.Release(s.Context())
	s.tell(err)
	s.fault.cured = true
	for range 3 {
		if err == nil {
			return
		}
		err = h.Release(s.Context())
	}
	if err != nil && !s.mayOrphan() && !errors.Is(err, backend.ErrGone) {
		s.Errorf("the release fails: %v", err)
	}
}

func (s *scene) withdraw(a backend.Attempt) {
	err := a.Withdraw(s.Context())
	s.tell(err)
	s.fault.cured = true
	for range 3 {
		if err == nil {
			return
		}
		err = a.Withdraw(s.Context())
	}
	if err != nil {
		s.Errorf("the attempt cannot withdraw: %v", err)
	}
}

func playWithdraw(s *scene) {
	h := s.neighbour().take(s.T, "exclusive")
	a := s.victim().want(s.T, s.mode)
	for range 2 {
		_, err := a.Try(s.Context())
		var held *backend.HeldError
		if !errors.As(err, &held) {
			s.tell(err)
			break
		}
		s.tell(a.Wait(s.Context()))
	}
	s.withdraw(a)
	mustStillHold(s.T, h)
	mustRelease(s.T, h)
}

func playBreak(s *scene) {
	h := s.neighbour().take(s.T, s.mode)
	err := backendtest.BreakID(s.Context(), s.victim().lock(), h.ID())
	s.tell(err)
	s.fault.cured = true
	if hit := h.Heartbeat(s.Context()); hit == nil {
		if err == nil && s.fault.left == nil {
			s.Error("break did nothing, and said so to nobody")
		}
		if err := h.Release(s.Context()); err != nil && !s.fault.unclearly() && !s.mayOrphan() {
			s.Errorf("the release after a break that failed: %v", err)
		}
	} else if !errors.Is(hit, backend.ErrGone) {
		s.Errorf("heartbeat of a broken one: %v", hit)
	}
}

func playTend(s *scene) {
	first := s.neighbour().take(s.T, "exclusive")
	gone, waits := s.neighbour().ask(s.T, s.neighbour().by(7, "exclusive")), s.neighbour().want(s.T, "exclusive")
	for _, a := range []*attempt{gone, waits} {
		mustBeHeld(s.T, a)
		mustWork(s.T, a.Wait(s.Context()))
	}
	mustRelease(s.T, first)
	h := s.neighbour().take(s.T, "exclusive")
	h.dir = s.fault.on(s.memory)
	h.others = h.lock.newOthers(h.dir, backend.Request{Clock: h.claim.Clock})
	s.tell(h.Tend(s.Context()))
	s.fault.cured = true
	mustStillHold(s.T, h)
	mustBeHeld(s.T, waits)
	mustRelease(s.T, h)
	mustRelease(s.T, mustAcquire(s.T, waits))
}

// mustKeepOut lets somebody try, who must not get the lock.
func (s *scene) mustKeepOut(whom string) {
	s.Helper()
	a := newHost("elsewhere", s.fault.beside(s.memory), s.kind).want(s.T, "exclusive")
	h, err := a.Try(s.Context())
	var held *backend.HeldError
	if !errors.As(err, &held) {
		s.Fatalf("two at once: beside %s somebody else came in: %v, %v", whom, h, err)
	}
	mustWithdraw(s.T, a)
}

// orphaned reports that there is an empty L. In plain style that is allowed after an unclear
// answer, after a commit that was refused without a reason, or if what is there could not be
// seen.
func (s *scene) orphaned() bool { return s.mayOrphan() && slices.Equal(s.lockTree(), []string{"L"}) }

func (s *scene) mayOrphan() bool {
	blind := strings.HasPrefix(s.fault.told, "list") || s.fault.told == "rmdir L"
	// A commit that is refused, though the server would have made it, looks as if
	// somebody had taken L from us: then it is not ours to remove.
	denied := strings.HasPrefix(s.fault.told, "rename L.r.") && strings.HasSuffix(s.fault.told, " L")
	return s.kind.style == PlainStyle && (s.fault.unclearly() || blind || denied)
}

func (s *scene) lockTree() []string {
	return slices.DeleteFunc(s.memory.tree(), func(name string) bool {
		return name != "L" && !strings.HasPrefix(name, "L/")
	})
}

// TestFaults lets each call in turn fail in every way, up to the last one.
func TestFaults(t *testing.T) {
	for _, k := range []kindOfLock{plain, numbered} {
		for _, mode := range modes(k) {
			for i := range scenes {
				t.Run(name(k, " ", mode, " ", scenes[i].name), func(t *testing.T) {
					playFaults(t, script{kind: k, mode: mode, scene: i}, faults())
				})
			}
		}
	}
}

// TestFaultsOfServers does the same with servers of other habits.
func TestFaultsOfServers(t *testing.T) {
	some := slices.DeleteFunc(faults(), func(f fault) bool { return f.lasts > 0 || f.late > 0 || !dirs.Refused(f.err) && !f.done })
	for about, h := range map[string]habits{"no overwriting": {noOverwrite: true}, "missing is empty": {missingIsEmpty: true}, "empty is refused": {emptyIsRefused: true}} {
		for _, k := range []kindOfLock{plain, dirStyle} {
			for i := range scenes {
				t.Run(name(about, " ", k, " ", scenes[i].name), func(t *testing.T) {
					playFaults(t, script{k, h, "exclusive", i}, some)
				})
			}
		}
	}
}

func playFaults(t *testing.T, p script, all []fault) {
	t.Helper()
	orphans := 0
	for i, f := range all {
		orphans += playAll(t, p, f, 1+i%stride)
	}
	if orphans > 0 {
		t.Logf("%d times an empty lock directory was left", orphans)
	}
}

// A script says what goes on when the fault happens.
type script struct {
	kind   kindOfLock
	habits habits
	mode   string
	scene  int // of scenes
}

// playAll plays the script once for each call, with the fault in that call. It returns how often
// an orphan was left.
func playAll(t *testing.T, p script, f fault, first int) (orphans int) {
	t.Helper()
	for n := first; ; n += stride {
		f := f
		f.n = n
		orphan, failed := p.play(t, &f)
		if orphan {
			orphans++
		}
		if failed || !f.met {
			return orphans
		}
	}
}

func (p script) play(t *testing.T, f *fault) (orphan, failed bool) {
	t.Helper()
	n := f.n
	inBubbleWith(t, p.habits, func(t *testing.T, m *memory) {
		s := &scene{T: t, memory: m, kind: p.kind, mode: p.mode, fault: f}
		defer func() {
			if failed = t.Failed(); failed {
				t.Logf("%v: at call %d (%s); told %.300v; there is %q", f, n, f.told, s.told, m.tree())
			}
		}()
		if p.kind.style == DirStyle { // as after earlier use
			mustRelease(t, newHost("here", m, p.kind).take(t, p.mode))
		}
		scenes[p.scene].play(s)
		orphan = s.finish()
	})
	return orphan, failed
}

// finish lets others use the lock after the fault.
func (s *scene) finish() (orphan bool) {
	s.fault.cured = true
	for _, err := range s.told {
		if !s.excused(err) {
			s.Errorf("the user was told %v, want the fault's code %s", err, s.fault.code)
		}
	}
	a := s.neighbour().want(s.T, "exclusive")
	ctx, cancel := context.WithTimeout(s.Context(), 3*lease)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		if orphan = s.orphaned(); !orphan {
			s.Fatalf("after the fault is over, somebody else does not get the lock within %v, and the user was not told that it stays: %v", 3*lease, err)
		}
		mustWork(s.T, s.memory.Rmdir(s.Context(), "L"))
		h = mustAcquire(s.T, a)
	}
	s.mustKeepOut("the next one")
	s.fault.flush()
	mustStillHold(s.T, h)
	s.mustKeepOut("the next one")
	for range 3 {
		if err := h.Tend(s.Context()); err != nil {
			s.Error(err)
		}
		for range 5 { // a lease and more
			mustStillHold(s.T, h)
			time.Sleep(lease / 4)
		}
	}
	mustRelease(s.T, h)
	if s.fault.unclearly() && len(untidy(s.memory, s.kind)) > 0 {
		// An entry that came late has its lease.
		mustRelease(s.T, mustAcquire(s.T, s.neighbour().want(s.T, "exclusive")))
	}
	mustBeTidy(s.T, s.memory, s.kind)
	return orphan
}

// excused reports that an error tells the truth about the fault.
func (s *scene) excused(err error) bool {
	var held *backend.HeldError
	code := backend.CodeOf(err)
	switch {
	case errors.As(err, &held) && held.Obstacle == nil, errors.Is(err, context.DeadlineExceeded):
		return true
	case !s.fault.met:
		return false
	}
	if dirs.Refused(s.fault.err) && (code == protocol.Permission || code == protocol.Gone && strings.HasPrefix(s.fault.told, "list") || s.orphaned()) {
		return true // the server refused without a reason, so that only permissions explain it
	}
	return code == s.fault.code
}
