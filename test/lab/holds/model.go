package holds

import (
	"fmt"
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
	after  int // how many of the chunk have a lower token, and so took the lock before
}

const nameSize = 8 // digits of a hold's number, and blanks before them

// A state is the state of a lock between acts.
type state struct {
	// holders are the numbers of the holds, each nameSize long. They are sorted, so that it is one state
	// in whatever order they came: of many that share a lock the checker would try all orders.
	holders string
	taken   int    // how many have taken the lock
	alone   bool   // the holder does not share
	token   uint64 // the highest so far
	joined  bool   // shared holders may have that token, too
}

// step is the model: what a lock may do, with or without tokens.
func step(s state, a act, tokens bool) (bool, state) {
	name, at := fmt.Sprintf("%*d", nameSize, a.hold), 0
	for at < len(s.holders) && s.holders[at:at+nameSize] < name {
		at += nameSize
	}
	if !a.takes {
		rest, there := strings.CutPrefix(s.holders[at:], name)
		s.holders = s.holders[:at] + rest
		return there, s
	}
	free := s.holders == "" || !s.alone && a.shared
	rises := a.token > s.token || a.token == s.token && s.joined && a.shared
	if !free || tokens && (!rises || s.taken < a.after) || !tokens && a.token != 0 {
		return false, s
	}
	s.taken++
	s.holders = s.holders[:at] + name + s.holders[at:]
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
		what := "there is no order"
		if result == porcupine.Unknown {
			what = fmt.Sprintf("within %v no order was found, nor that there is none,", chunkTime)
		}
		if result != porcupine.Ok {
			found = append(found, fmt.Sprintf("%s in which a lock allows these %d holds: from %v to %v",
				what, len(chunk), chunk[0], chunk[len(chunk)-1]))
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
		for _, other := range chunk { // or the checker would go far before it finds that these come too late
			if other.Token < h.Token {
				take.after++
			}
		}
		all = append(all,
			porcupine.Operation{ClientId: i, Input: take, Call: int64(h.wanted()), Return: int64(h.Start)},
			porcupine.Operation{ClientId: i, Input: act{hold: i}, Call: int64(h.End), Return: int64(h.freed())})
	}
	return all
}
