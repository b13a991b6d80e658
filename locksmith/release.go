package locksmith

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/protocol"
)

const (
	// lastTry is how long a release may take that begins after the lease is over.
	lastTry = time.Second
	// ReleaseTimeout is how long a release is usually tried, however long the lease. A parent
	// that waits for us to end should not wait for hours, and others can break the lock of a
	// helper that has ended.
	ReleaseTimeout = 10 * time.Second
	// deniedTime is how long a release that is not allowed is tried again.
	deniedTime = 5 * time.Second
	// stopTime is how long a client has to stop, at most, after it has held the lock for as long
	// as it may.
	stopTime = 10 * time.Second
)

// release is the state releasing. It tries again and again until the release succeeds, or until
// its time or the lease is over. After that the lock frees itself.
func (s *session) release() error {
	start, pause, level := s.now(), 10*time.Millisecond, hclog.Warn
	for cause := error(nil); ; {
		left := min(s.left(), start+s.helper.ReleaseTimeout-s.now())
		back, err := s.call(context.Background(), max(left, lastTry), max(left/2, lastTry), s.hold.Release)
		if !back && cause != nil {
			err = fmt.Errorf("%w, and before: %w", err, cause)
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, backend.ErrGone):
			return &LossError{Lock: s.helper.Address, Code: protocol.Gone, Err: err}
		case errors.Is(err, backend.ErrStays):
			return &LossError{Lock: s.helper.Address, Code: protocol.Unreleased, Err: err}
		case left <= pause, !back, isDenied(err) && s.now() > start+deniedTime:
			return &LossError{Lock: s.helper.Address, Code: protocol.Unreleased, Err: err, Left: s.left()}
		}
		s.helper.Log.Log(level, "release failed, trying again", "lock", s.helper.Address, "for", left.Round(time.Millisecond), "error", err)
		cause, level = err, hclog.Debug // later failures are the same trouble in other words
		clock.Sleep(context.Background(), s.clock(), pause)
		pause = min(2*pause, time.Second)
	}
}

// isDenied reports whether an error says that something is not allowed, which hardly ever passes.
func isDenied(err error) bool {
	code := backend.CodeOf(err)
	return code == protocol.Permission || code == protocol.CannotCreate
}

// lost is the state lost. It tells the client, lets the guarded work stop, and removes what may
// be left, such as the other locks of a set. Everything that it removes has the name of our own
// acquisition, so it cannot hit a successor.
func (s *session) lost(err error) {
	loss := asLoss(err)
	s.findNote(loss)
	s.logLoss(loss)
	s.helper.Client.Lost(context.Background(), loss)
	if loss.Code == protocol.Expired || loss.Code == protocol.Gone && setTokens(s.hold) != nil {
		s.giveBack()
	}
}

// noteTime is how long the look for the note may delay the news of a loss, at most.
const noteTime = 500 * time.Millisecond

// findNote adds to a loss who broke the lock by hand. Somebody else may already use what the lock
// guards. So the look takes only a small part of the time in which the loss was found, and no
// time after the lease.
func (s *session) findNote(loss *LossError) {
	limit := min(s.left(), s.every/8, noteTime)
	if loss.Code != protocol.Gone || limit <= 0 || s.calls.Hung() {
		return
	}
	var note *owner.Note // a call that is left behind may write this later
	back, err := s.calls.Call(context.Background(), detached.Bounds{Limit: limit}, func(ctx context.Context) (err error) {
		note, err = shelf.NoteOf(ctx, s.helper.Locker, s.hold, s.helper.Request.Owner.Lease)
		return err
	}, nil)
	if !back {
		return
	}
	if err != nil {
		s.helper.Log.Debug("cannot look for a note of who broke the lock", "lock", s.helper.Address, "error", err)
	}
	loss.By = note
}

// logLoss logs a loss. People are told nothing else of it.
func (s *session) logLoss(loss *LossError) {
	s.helper.Log.Error("lost", "lock", s.helper.Address, "code", loss.Code, "error", loss.sentence())
}

// overstay gives up a lock that was held for as long as it may be. It tells the client of a loss.
// Nobody else gets the lock until the guarded work has stopped, which may be later than the end of
// the client's context. If the lock is really lost meanwhile, the work must stop at once.
func (s *session) overstay(loss *LossError) error {
	ctx, hurry := context.WithCancel(context.Background())
	defer hurry()
	working, stopped := context.WithCancel(context.Background())
	told := detached.GoErr(func() error {
		defer stopped()
		s.helper.Client.Lost(ctx, loss)
		return nil
	})
	for !told.Await(context.Background(), s.clock(), s.every, 0) {
		if err := s.beat(working); asLoss(err) != nil {
			hurry()
			<-told.Done()
		}
	}
	if err := s.release(); err != nil {
		s.logLoss(asLoss(err)) // the client was told of a loss already
		return err
	}
	return loss
}

// abandon gives up a lock that the client was not told about, so that nobody need be told of its
// loss. It reports whether nothing is left of the lock.
func (s *session) abandon(err error) (gone bool, _ error) {
	gone = s.giveBack()
	switch loss := asLoss(err); {
	case loss != nil && loss.Code == protocol.MaxHold:
		return gone, loss
	case loss != nil:
		err = loss.Err
	case !errors.Is(err, context.Canceled): // a heartbeat that was cut off also means that the place is too slow
		return gone, err
	}
	return gone, backend.Name(s.helper.Address).TooSlow(err)
}

// giveBack releases what may be left of a lock that does not count any more, and reports whether
// nothing is left.
func (s *session) giveBack() bool {
	_, err := s.call(context.Background(), withdrawTime, withdrawTime, s.hold.Release)
	if err == nil || errors.Is(err, backend.ErrGone) {
		return true
	}
	s.helper.leaveBehind()
	s.helper.Log.Error("could not remove what is left of the lock", "lock", s.helper.Address, "error", err)
	return false
}
