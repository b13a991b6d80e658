package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"

	"locksmith/protocol"
)

// An event is what we need of a line that a helper writes for --events.
type event struct {
	Event  string
	Lock   string // of a set
	Holder struct {
		ID, User, Host string
		PID            int
	}
	Why string
}

// listenIn makes a pipe for the helper's events and begins to read them. It returns the
// pipe's other end, to be closed when the helper has it, and what --events calls that.
func (h *helper) listenIn(lock string) (told *os.File, name string, err error) {
	r, told, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	if name, err = inherit(h.cmd, told); err != nil {
		_, _ = r.Close(), told.Close()
		return nil, "", err
	}
	h.seen = make(chan *HeldError, 1)
	go h.hearEvents(lock, r)
	return told, name, nil
}

// maxEvent is the longest line of an event.
const maxEvent = 64 << 10

// hearEvents reads to the end, for the helper must not find the pipe full.
func (h *helper) hearEvents(lock string, r *os.File) {
	defer r.Close()
	lines := bufio.NewReaderSize(r, maxEvent)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
		var e event
		if json.Unmarshal(line, &e) == nil && e.Event == "waiting" {
			h.see(e.held(lock))
		}
	}
}

// see puts the latest in place of one that nobody has taken notice of.
func (h *helper) see(held *HeldError) {
	select {
	case <-h.seen:
	default:
	}
	h.seen <- held
}

// held is what the event says of the holder of a lock, or of one of a set.
func (e event) held(lock string) *HeldError {
	if e.Lock != "" {
		lock = e.Lock
	}
	if e.Why == "" {
		e.Why = lock + ": held by somebody else"
	}
	return &HeldError{Lock: lock, Code: protocol.Held, Text: protocol.CleanText(e.Why, protocol.MaxLine),
		Holder: protocol.Holder{ID: e.Holder.ID, User: e.Holder.User, Host: e.Holder.Host, PID: e.Holder.PID}}
}
