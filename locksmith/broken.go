package locksmith

import (
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A BrokenLock is a lock that was broken for us, with its dead holder.
type BrokenLock struct {
	Lock string // the address
	Dead backend.Holder
}

// String describes it for people: "broke the lock of billing.pl (helper's pid 17004 on web3,
// job=nightly), which died; its last heartbeat was 3h2m0s ago".
func (b BrokenLock) String() string {
	end := ", which died"
	if b.Dead.Verdict != owner.Dead {
		end = ", which gave no sign of life for longer than its lease"
	}
	if b.Dead.Heartbeat > 0 {
		end += "; its last heartbeat was " + b.Dead.Heartbeat.Round(time.Second).String() + " ago"
	}
	return protocol.CleanText("broke the lock of "+b.Dead.ByProgram()+end, maxEventText)
}

// tellBroken tells which locks the last try broke.
func (w *waiting) tellBroken() {
	for _, b := range w.broken.take() {
		w.helper.Log.Warn(b.String(), "lock", b.Lock)
		if o, ok := w.helper.Client.(observer); ok {
			o.Broke(b)
		}
	}
}

// brokenLocks are the locks that a try broke. It has a mutex because a try that was left behind
// may go on.
type brokenLocks struct {
	mu  sync.Mutex
	all []BrokenLock
}

func (b *brokenLocks) add(lock string, dead backend.Holder) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, BrokenLock{lock, dead})
}

func (b *brokenLocks) take() []BrokenLock {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all
	b.all = nil
	return all
}
