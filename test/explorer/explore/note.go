package explore

import (
	"errors"

	"locksmith/backends/backend"
)

// A noteKind is something that a process did or found out between two steps.
type noteKind uint8

const (
	noteTry           noteKind = iota // Try is called
	noteHeld                          // Try returned a hold
	noteBeatBegins                    // Heartbeat is called
	noteBeat                          // Heartbeat returned
	noteReleaseBegins                 // Release is called
	noteReleased                      // Release returned
	noteCondemned                     // the operator said whom to break
	noteError                         // a call failed otherwise
	notePanic
)

// An outcome is what a call on a hold returned.
type outcome uint8

const (
	done outcome = iota
	gone
	unclear
)

type note struct {
	kind   noteKind
	token  uint64 // of the hold; of a condemned one its process
	serial uint8
	out    outcome
	text   string
}

func (n note) with(err error) note {
	switch {
	case errors.Is(err, backend.ErrGone):
		n.out = gone
	case err != nil:
		n.out, n.text = unclear, err.Error()
	}
	return n
}
