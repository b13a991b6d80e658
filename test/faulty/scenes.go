package faulty

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

// A Place has a lock in memory, on the time of a synctest bubble.
type Place struct {
	// Lock is the lock as a process of a host sees it, whose calls go through a hook.
	Lock func(h backendtest.Host, hook Hook) Lock
	// Dies adds what dies with a holder; nil: nothing.
	Dies func(backend.Hold)
	// Left is what there is that a free lock should not have.
	Left func() []string
	// Ours is what nobody may leave, even for a while, unless it comes late; nil: all has its lease.
	Ours func() []string
	// Excuses reports that an error tells the truth about a fault, though with another code; nil: it
	// never does.
	Excuses func(*Fault, error) bool
	// Ends reports that who holds a lock may be told after such a fault that it is gone; nil: never.
	Ends func(*Fault) bool
	// MayBlock reports that a lock may stay blocked after such a fault, and Unblock frees it then, if
	// it is; nil: it never may.
	MayBlock func(*Fault) bool
	Unblock  func() bool
	// Unclear reports that a call may have had its effect though it failed so.
	Unclear func(error) bool
}

// A Lock is what is asked of a lock.
type Lock interface {
	backend.Locker
	Read(context.Context) (backend.Report, error)
	Strike(context.Context, backend.Holder) error
}

// A scene is somebody's life with a fault in it.
type scene struct {
	*testing.T
	Place
	mode  string
	fault *Fault
	told  []error // the errors that we were told
	// patient: only a lease frees the lock. Else nobody who lives has it for long.
	patient bool
}

// A party is a process, with the lock as it sees it.
type party struct {
	backendtest.Host
	lock Lock
}

// scenes are what the process that the fault hits may be doing.
var scenes = []struct {
	name string
	play func(*scene)
}{
	{"acquire", (*scene).acquire},
	{"acquire after others", func(s *scene) {
		backendtest.MustRelease(s.T, s.neighbour().take(s.T, "exclusive"))
		s.acquire()
	}},
	{"acquire from a dead one", func(s *scene) {
		h := backendtest.MustHold(s.T, s.dead(s.mode))
		if s.Dies != nil {
			s.Dies(h)
		}
		s.acquire()
	}},
	{"acquire beside a dead waiter", func(s *scene) {
		h := s.neighbour().take(s.T, "exclusive")
		backendtest.MustBeHeld(s.T, s.dead("exclusive"))
		backendtest.MustRelease(s.T, h)
		s.acquire()
	}},
	{"acquire from a silent one", func(s *scene) {
		s.stranger().take(s.T, s.mode)
		s.patient = true
		s.acquire()
	}},
	{"join those who share", func(s *scene) {
		if s.mode != "shared" {
			return
		}
		h := s.neighbour().take(s.T, s.mode)
		s.acquire()
		backendtest.MustStillHold(s.T, h)
		backendtest.MustRelease(s.T, h)
	}},
	{"wait", func(s *scene) {
		h := s.neighbour().take(s.T, "exclusive")
		time.AfterFunc(3*time.Second, func() { _ = h.Release(context.Background()) })
		s.acquire()
	}},
	{"withdraw", (*scene).waitAndWithdraw},
	{"break", (*scene).breaks},
	{"tend", (*scene).tend},
}

// Run lets each call in turn fail in every way, up to the last one, in each scene. It leaves out
// all but every strideth call.
func Run(t *testing.T, modes []string, all []Fault, place func(*testing.T) Place) {
	t.Helper()
	for _, mode := range modes {
		for _, sc := range scenes {
			t.Run(strings.ReplaceAll(mode+" "+sc.name, " ", "_"), func(t *testing.T) {
				blocked := 0
				for i, f := range all {
					first := 1 + i%stride
					if f.Every {
						first = 1
					}
					blocked += playAll(t, f, first, func(t *testing.T, f *Fault) bool {
						s := &scene{T: t, Place: place(t), mode: mode, fault: f}
						return s.play(sc.play)
					})
				}
				if blocked > 0 {
					t.Logf("%d times a lock stayed blocked", blocked)
				}
			})
		}
	}
}

// playAll plays once for each call, with the fault in that call. It returns how often the lock
// stayed blocked.
func playAll(t *testing.T, fault Fault, first int, play func(*testing.T, *Fault) bool) (blocked int) {
	t.Helper()
	step := stride
	if fault.Every {
		step = 1
	}
	for n := first; ; n += step {
		f := fault
		f.n = n
		failed := false
		synctest.Test(t, func(t *testing.T) {
			defer func() { failed = t.Failed() }()
			if play(t, &f) {
				blocked++
			}
		})
		if failed {
			t.Logf("%v: at call %d (%s)", &fault, n, f.First())
		}
		if failed || !f.met {
			return blocked
		}
	}
}

func (s *scene) play(scene func(*scene)) (blocked bool) {
	defer func() {
		if s.Failed() {
			s.Logf("told %.300v; left: %q", s.told, s.Left())
		}
	}()
	scene(s)
	return s.finish()
}

func (s *scene) at(host string, hook Hook) *party {
	h := backendtest.NewHost(host)
	h.Dead[7] = true
	return &party{h, s.Lock(h, hook)}
}

func (s *scene) victim() *party { return s.at("here", s.fault.On) }

// neighbour is a process on the victim's host; no fault hits its calls.
func (s *scene) neighbour() *party { return s.at("here", s.fault.Beside) }

// dead is an attempt of a neighbour that has died by the time that anybody looks.
func (s *scene) dead(mode string) backend.Attempt {
	p := s.neighbour()
	r := p.Request(mode)
	r.Owner.Helper.PID = 7
	return p.ask(s.T, r)
}

// stranger is on another host.
func (s *scene) stranger() *party { return s.at("elsewhere", s.fault.Beside) }

func (p *party) ask(t *testing.T, r backend.Request) backend.Attempt {
	t.Helper()
	a, err := p.lock.Attempt(r)
	backendtest.MustWork(t, err)
	return a
}

func (p *party) want(t *testing.T, mode string) backend.Attempt {
	t.Helper()
	return p.ask(t, p.Request(mode))
}

func (p *party) take(t *testing.T, mode string) backend.Hold {
	t.Helper()
	return backendtest.MustHold(t, p.want(t, mode))
}

func (s *scene) tell(err error) {
	if err != nil {
		s.told = append(s.told, err)
	}
}

// held reports that somebody has the lock.
func held(err error) bool { return errors.As(err, new(*backend.HeldError)) }

// ours is what nobody may leave, and there is now.
func (s *scene) ours() []string {
	if s.Ours == nil {
		return nil
	}
	return s.Ours()
}

func (s *scene) acquire() {
	before := s.ours()
	if h := s.untilHeld(); h != nil {
		s.hold(h)
	}
	left := slices.DeleteFunc(s.ours(), func(name string) bool { return slices.Contains(before, name) })
	if len(left) > 0 && s.fault.Late == 0 {
		s.Errorf("it leaves %q", left)
	}
}

// untilHeld does what a helper does until it has the lock, or gives up.
func (s *scene) untilHeld() backend.Hold {
	a := s.victim().want(s.T, s.mode)
	ctx, cancel := context.WithTimeout(s.Context(), 3*backendtest.Lease)
	defer cancel()
	start := time.Now()
	for {
		h, err := a.Try(ctx)
		if err == nil {
			if d := time.Since(start); d >= backendtest.Lease && !s.patient && s.fault.Lasts == 0 && !s.mayBlock() {
				s.Errorf("it gets the lock only after %v, though nobody who lives had it", d)
			}
			return h
		}
		s.tell(err)
		if held(err) {
			err = a.Wait(ctx)
		}
		if err != nil {
			if ctx.Err() != nil && s.fault.Lasts == 0 && !s.mayBlock() {
				s.Error("it does not get the lock, though nobody has it")
			}
			s.withdraw(a)
			return nil
		}
	}
}

// hold does what a holder does until it leaves.
func (s *scene) hold(h backend.Hold) {
	for range 3 {
		s.keepOut("the victim")
		err := h.Heartbeat(s.Context())
		for range 3 {
			if err == nil || errors.Is(err, backend.ErrGone) {
				break
			}
			s.tell(err)
			err = h.Heartbeat(s.Context())
		}
		if errors.Is(err, backend.ErrGone) && s.Ends != nil && s.Ends(s.fault) {
			break
		}
		if errors.Is(err, backend.ErrGone) {
			s.Errorf("the heartbeat says that the lock is gone, and nobody broke it: %v", err)
		}
		time.Sleep(time.Second)
	}
	if err := s.again(func() error { return h.Release(s.Context()) }); err != nil && !s.mayBlock() && !errors.Is(err, backend.ErrGone) {
		s.Errorf("the release fails: %v", err)
	}
}

// again makes a call until it succeeds. What hit the first one is over then.
func (s *scene) again(call func() error) error {
	err := call()
	s.tell(err)
	s.fault.off = true
	for range 3 {
		if err == nil {
			return nil
		}
		err = call()
	}
	return err
}

func (s *scene) withdraw(a backend.Attempt) {
	if err := s.again(func() error { return a.Withdraw(s.Context()) }); err != nil {
		s.Errorf("the attempt cannot withdraw: %v", err)
	}
}

func (s *scene) waitAndWithdraw() {
	h := s.neighbour().take(s.T, "exclusive")
	a := s.victim().want(s.T, s.mode)
	for range 2 {
		if _, err := a.Try(s.Context()); !held(err) {
			s.tell(err)
			break
		}
		s.tell(s.waitBriefly(a))
	}
	s.withdraw(a)
	backendtest.MustStillHold(s.T, h)
	backendtest.MustRelease(s.T, h)
}

// waitBriefly waits for so short a time that nobody's lease ends.
func (s *scene) waitBriefly(a backend.Attempt) error {
	ctx, cancel := context.WithTimeout(s.Context(), backendtest.Lease/10)
	defer cancel()
	return a.Wait(ctx)
}

func (s *scene) breaks() {
	h := s.neighbour().take(s.T, s.mode)
	err := backendtest.BreakID(s.Context(), s.victim().lock, h.ID())
	s.tell(err)
	s.fault.off = true
	if hit := h.Heartbeat(s.Context()); hit == nil {
		if err == nil && s.fault.left == nil {
			s.Error("break did nothing, and said so to nobody")
		}
		if err := h.Release(s.Context()); err != nil && !s.Unclear(s.fault.Err) && !s.mayBlock() {
			s.Errorf("the release after a break that failed: %v", err)
		}
	} else if !errors.Is(hit, backend.ErrGone) {
		s.Errorf("heartbeat of a broken one: %v", hit)
	}
}

func (s *scene) tend() {
	first := s.neighbour().take(s.T, "exclusive")
	waits := s.neighbour().want(s.T, "exclusive")
	for _, a := range []backend.Attempt{s.dead("exclusive"), waits} {
		backendtest.MustBeHeld(s.T, a)
		s.tell(s.waitBriefly(a))
	}
	backendtest.MustRelease(s.T, first)
	s.fault.off = true
	victim := s.victim()
	r := victim.Request("exclusive")
	r.Timeout = 0 // it does not leave the lock to those before it
	h := backendtest.MustHold(s.T, victim.ask(s.T, r))
	s.fault.off = false
	s.tell(h.Tend(s.Context()))
	s.fault.off = true
	backendtest.MustStillHold(s.T, h)
	backendtest.MustBeHeld(s.T, waits)
	backendtest.MustRelease(s.T, h)
	backendtest.MustRelease(s.T, acquired(s.T, waits))
}

// acquired waits for a lock, for hours of fake time.
func acquired(t *testing.T, a backend.Attempt) backend.Hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*backendtest.Lease)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		t.Fatalf("Try and Wait by turns do not take the lock within 100 leases: %v", err)
	}
	return h
}

// keepOut lets somebody try to have the lock alone, who must not get it.
func (s *scene) keepOut(whom string) {
	s.Helper()
	a := s.stranger().want(s.T, "exclusive")
	if h, err := a.Try(s.Context()); !held(err) {
		s.Fatalf("two at once: beside %s somebody else came in: %v, %v", whom, h, err)
	}
	backendtest.MustWithdraw(s.T, a)
}

func (s *scene) mayBlock() bool { return s.MayBlock != nil && s.MayBlock(s.fault) }

// finish lets others use the lock after the fault.
func (s *scene) finish() (blocked bool) {
	s.fault.off = true
	for _, err := range s.told {
		if !s.excused(err) {
			s.Errorf("the user was told %v, want the fault's code %s", err, s.fault.Code)
		}
	}
	a := s.neighbour().want(s.T, "exclusive")
	ctx, cancel := context.WithTimeout(s.Context(), 3*backendtest.Lease)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		if blocked = s.mayBlock() && s.Unblock(); !blocked {
			s.Fatalf("after the fault is over, somebody else does not get the lock within three leases, and the user was not told that it stays: %v", err)
		}
		h = acquired(s.T, a)
	}
	s.keepOut("the next one")
	s.fault.flush()
	backendtest.MustStillHold(s.T, h)
	s.keepOut("the next one")
	Settle(s.T, h)
	if s.Unclear(s.fault.Err) && len(s.Left()) > 0 {
		// What came late has its lease.
		backendtest.MustRelease(s.T, acquired(s.T, s.neighbour().want(s.T, "exclusive")))
	}
	if left := s.Left(); len(left) > 0 {
		s.Errorf("a free lock leaves %q", left)
	}
	return blocked
}

// Settle tends a lock until all leases of what may be left are over, and releases it.
func Settle(t *testing.T, h backend.Hold) {
	t.Helper()
	for range 6 { // some leases begin only when others are over
		for range 5 { // a lease and more
			backendtest.MustWork(t, h.Tend(t.Context()))
			backendtest.MustStillHold(t, h)
			time.Sleep(backendtest.Lease / 4)
		}
	}
	backendtest.MustRelease(t, h)
}

// excused reports that an error tells the truth about the fault.
func (s *scene) excused(err error) bool {
	var refused *backend.HeldError
	switch {
	case errors.As(err, &refused) && refused.Obstacle == nil, errors.Is(err, context.DeadlineExceeded):
		return true
	case !s.fault.met:
		return false
	}
	return backend.CodeOf(err) == s.fault.Code || s.Excuses != nil && s.Excuses(s.fault, err)
}
