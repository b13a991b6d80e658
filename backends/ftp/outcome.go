package ftp

import (
	"errors"
	"net/textproto"
)

// An outcome is what a call came to.
type outcome int

const (
	done    outcome = iota
	refused         // the server said no; the connection is as good as before
	nothing         // nothing was changed, and the connection is lost
	unclear         // something may have been changed, and the connection is lost
)

// judge says what became of a call.
func (c *conn) judge(err error) outcome {
	verb := c.control.verb
	var unsent *unsentError
	// As it is, not wrapped: the library wraps the reply that ends a listing.
	reply, isReply := err.(*textproto.Error)
	switch {
	case err == nil:
		return done
	case errors.As(err, &unsent), isReply && reply.Code == 421:
		return nothing
	case isReply && reply.Code/100 == 2 && changes(verb):
		return done // the library knows but one code for each command
	case isReply && (reply.Code/100 == 4 || reply.Code/100 == 5):
		return refused
	case changes(verb):
		return unclear
	}
	return nothing
}

// changes reports that a command changes something. RNFR does not, without the
// RNTO that follows.
func changes(verb string) bool { return verb == "MKD" || verb == "RMD" || verb == "RNTO" }
