package ftp

import (
	"context"
	"errors"
	"fmt"
	"net/textproto"
	"os"
	"strconv"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/servers"
	"locksmith/protocol"
)

// An outcome is what a call led to.
type outcome int

const (
	done      outcome = iota
	refused           // the server said no; the connection is still good
	unchanged         // nothing was changed, and the connection is lost
	unclear           // something may have been changed, and the connection is lost
)

// judge says what a call led to.
func (c *conn) judge(err error) outcome {
	verb := c.control.verb
	var unsent *servers.UnsentError
	// not errors.As: the library wraps the reply that ends a listing
	reply, isReply := err.(*textproto.Error)
	switch {
	case err == nil:
		return done
	case errors.As(err, &unsent), isReply && reply.Code == 421:
		return unchanged
	case isReply && reply.Code/100 == 2 && changes(verb) && !aboutConnections(reply.Code):
		return done // the library knows only one code for each command
	case isReply && (reply.Code/100 == 4 || reply.Code/100 == 5):
		return refused
	case changes(verb):
		return unclear
	}
	return unchanged
}

// aboutConnections reports whether a code speaks of a connection (RFC 959, 4.2.1), as at the end of a
// listing or of a session. If such a reply comes late, it is taken for that of a later command, which
// it says nothing about.
func aboutConnections(code int) bool { return code/10 == 22 }

// changes reports whether a command changes something. RNFR changes nothing without the RNTO that
// follows.
func changes(verb string) bool { return verb == "MKD" || verb == "RMD" || verb == "RNTO" }

var (
	errClosed    = errors.New("the server has closed the connection")
	errOutOfStep = errors.New("the server sent something that nobody asked for")
	// errNoPassword: no password is sent, because an empty one would count as a wrong one.
	errNoPassword = errors.New("the server asks for a password, and no password is known for this user and host")
)

// A dataError says that a data connection could not be opened.
type dataError struct{ err error }

func (e *dataError) Error() string { return "data connection: " + e.err.Error() }
func (e *dataError) Unwrap() error { return e.err }

// wrong is fail for a failure that lasts, even if no answer came that counts: trying again does
// not help.
func (s *server) wrong(op string, cause error, hint string) error {
	return &backend.Error{Code: protocol.Unreachable, Lock: s.address.String(), Op: op, Err: cause, Hint: hint, Lasts: true}
}

// lost is the error of a call that did nothing, because the server or the way to it failed.
func (s *server) lost(ctx context.Context, op string, cause error) error {
	if err := servers.Over(ctx); err != nil {
		return fmt.Errorf("%s: %s: %w", s.address, op, err)
	}
	hint := servers.TryAgain
	var data *dataError
	if errors.As(cause, &data) {
		hint = "let the server's passive ports through its firewall"
		if s.secure() {
			// Go cannot resume sessions of TLS 1.2 by session ids.
			hint += ", and let it resume sessions of TLS 1.3, or by tickets"
		}
	}
	return s.address.Name().Failure(protocol.Unreachable, op, cause, hint)
}

func (s *server) busy(op string, text string) error {
	return s.address.Name().Failure(protocol.Unreachable, op, fmt.Errorf("%w: %s", dirs.ErrBusy, text),
		"try again later, or raise the server's limit of connections")
}

// reason is an error of the library, or a reply of the server, for people: on one line, of
// limited length, and without the password, which a server may repeat.
func (c *conn) reason(err error) error {
	text := err.Error()
	var reply *textproto.Error
	switch {
	case errors.As(err, &reply):
		text = fmt.Sprintf("%d %s", reply.Code, reply.Msg)
	case errors.Is(err, os.ErrDeadlineExceeded):
		text = fmt.Sprintf("no answer within %v", c.deadlines.limit)
	}
	return errors.New(c.clean(text))
}

func (c *conn) clean(text string) string {
	if c.secret != "" {
		quoted := strconv.Quote(c.secret) // an error may contain it in quotes
		text = strings.NewReplacer(c.secret, "…", quoted[1:len(quoted)-1], "…").Replace(text)
	}
	return protocol.CleanText(shortText(strings.Join(strings.Fields(text), " ")), servers.MaxSaid)
}
