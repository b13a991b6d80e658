package history

import (
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	// chunkSize is how many sections a chunk has that the checker gets at a time, if
	// nobody is inside then; else more.
	chunkSize = 40
	// chunkTime is how long it may take over one.
	chunkTime = 20 * time.Second
)

// An act is a step of a lock: somebody takes it, or is out of it.
type act struct {
	section int // by its number in the chunk
	takes   bool
	shared  bool
	token   uint64
}

// A state is that of a lock between acts.
type state struct {
	holders string // the numbers of the sections inside, each with a space behind it
	alone   bool   // the holder does not share
	token   uint64 // the highest so far
	joined  bool   // those who share may have that token, too
	none    bool   // somebody had none
}

// step is the model: what a lock with tokens may do.
func step(before, what any) (bool, state) {
	s, a := before.(state), what.(act)
	name := strconv.Itoa(a.section) + " "
	if !a.takes {
		at := strings.Index(" "+s.holders, " "+name)
		if at < 0 {
			return false, s
		}
		s.holders = s.holders[:at] + s.holders[at+len(name):]
		return true, s
	}
	free := s.holders == "" || !s.alone && a.shared
	rises := a.token == 0 && s.token == 0 || a.token > s.token && !s.none || a.token == s.token && s.joined && a.shared
	if !free || !rises {
		return false, s
	}
	s.holders += name
	s.alone = !a.shared
	s.none = s.none || a.token == 0
	if a.token > s.token {
		s.token, s.joined = a.token, a.shared
	}
	return true, s
}

// linearize asks porcupine whether there is a moment for every taking, between want and
// enter, and for every end, after leave, so that all is as the model has it.
func (v *verdict) linearize(l *lock) {
	begin := state{}
	for _, chunk := range chunks(l) {
		model := porcupine.Model{
			Init: func() any { return begin },
			Step: func(s, in, _ any) (bool, any) { ok, next := step(s, in); return ok, next },
		}
		v.chunks++
		switch porcupine.CheckOperationsTimeout(model, operations(l, chunk), chunkTime) {
		case porcupine.Illegal:
			v.refused++
		case porcupine.Unknown:
			v.undecided++
		}
		for _, s := range chunk {
			m := s.in(l)
			begin.none = begin.none || m.token == 0
			if m.token > begin.token {
				begin.token, begin.joined = m.token, m.shared
			}
		}
	}
}

// chunks cuts a history where nobody is inside.
func chunks(l *lock) (all [][]*section) {
	var chunk []*section
	var end time.Duration
	for _, s := range l.sections {
		if s.until(false) <= s.enter {
			continue // it was lost before
		}
		if len(chunk) >= chunkSize && end < s.enter {
			all, chunk = append(all, chunk), nil
		}
		chunk = append(chunk, s)
		end = max(end, s.until(false))
	}
	return append(all, chunk)
}

// operations are those of a chunk. Who is inside earlier or later is not inside then.
func operations(l *lock, chunk []*section) (all []porcupine.Operation) {
	for i, s := range chunk {
		m := s.in(l)
		take := act{section: i, takes: true, shared: m.shared, token: m.token}
		all = append(all, porcupine.Operation{ClientId: i, Input: take, Call: int64(s.want), Return: int64(s.enter)})
		free := s.free
		if free == 0 { // perhaps much later
			free = forever
		}
		all = append(all, porcupine.Operation{ClientId: i, Input: act{section: i}, Call: int64(s.until(false)), Return: int64(free)})
	}
	return all
}
