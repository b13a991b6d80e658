package holds

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	// chunkSize is how many holds the checker gets at a time, if nobody has the lock after so
	// many; else it gets more.
	chunkSize = 40
	// chunkTime is how long the checker may take for one chunk. It takes milliseconds.
	chunkTime = time.Minute
)

// An act is a step of a lock: somebody takes it, or has let it go.
type act struct {
	hold   int // the hold's number in the chunk
	takes  bool
	shared bool
	token  uint64
}

// A state is the state of a lock between acts.
type state struct {
	holders string // the numbers of the holds, each followed by a space
	alone   bool   // the holder does not share
	token   uint64 // the highest so far
	joined  bool   // shared holders may have that token, too
}

// step is the model: what a lock may do, with or without tokens.
func step(s state, a act, tokens bool) (bool, state) {
	name := strconv.Itoa(a.hold) + " "
	if !a.takes {
		at := strings.Index(" "+s.holders, " "+name)
		if at < 0 {
			return false, s
		}
		s.holders = s.holders[:at] + s.holders[at+len(name):]
		return true, s
	}
	free := s.holders == "" || !s.alone && a.shared
	rises := a.token > s.token || a.token == s.token && s.joined && a.shared
	if !free || tokens && !rises || !tokens && a.token != 0 {
		return false, s
	}
	s.holders += name
	s.alone = !a.shared
	return true, s.raised(a.token, a.shared)
}

// raised is the state after a token was granted, if that is higher.
func (s state) raised(token uint64, shared bool) state {
	if token > s.token {
		s.token, s.joined = token, shared
	}
	return s
}

// byModel asks porcupine whether each taking and each end can be given a moment so that the model
// allows all of them.
func byModel(all []Hold, tokens bool) (found []string) {
	var begin state
	for _, chunk := range chunks(all) {
		model := porcupine.Model{
			Init: func() any { return begin },
			Step: func(s, in, _ any) (bool, any) {
				ok, next := step(s.(state), in.(act), tokens)
				return ok, next
			},
		}
		result := porcupine.CheckOperationsTimeout(model, operations(chunk), chunkTime)
		if result != porcupine.Ok {
			found = append(found, fmt.Sprintf("%s: there is no order in which a lock allows these %d holds: from %v to %v",
				result, len(chunk), chunk[0], chunk[len(chunk)-1]))
		}
		for _, h := range chunk {
			begin = begin.raised(h.Token, h.Shared)
		}
	}
	return found
}

// chunks cuts sorted holds where nobody has the lock.
func chunks(all []Hold) (cut [][]Hold) {
	first, end := 0, time.Duration(0)
	for i, h := range all {
		if i-first >= chunkSize && end < h.Start {
			cut, first = append(cut, all[first:i]), i
		}
		end = max(end, h.End)
	}
	return append(cut, all[first:])
}

// operations are the takings and ends of a chunk, each with the time in which it may have
// happened.
func operations(chunk []Hold) (all []porcupine.Operation) {
	for i, h := range chunk {
		take := act{hold: i, takes: true, shared: h.Shared, token: h.Token}
		all = append(all,
			porcupine.Operation{ClientId: i, Input: take, Call: int64(h.wanted()), Return: int64(h.Start)},
			porcupine.Operation{ClientId: i, Input: act{hold: i}, Call: int64(h.End), Return: int64(h.freed())})
	}
	return all
}
