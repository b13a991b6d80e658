package ftp

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// What servers tell the anonymous; RFC 1635 asks for an address.
const anonymous, anonymousPassword = "anonymous", "locksmith@"

func (c *conn) logIn(ctx context.Context) error {
	user, password := anonymous, anonymousPassword
	if c.server.address.User != "" {
		var err error
		user = c.server.address.User
		if password, err = c.server.password(user); err != nil {
			return err
		}
		c.secret = password
	}
	err := c.run(ctx, func(c *conn) error { return c.library.Login(user, password) })
	if err == nil {
		return nil
	}
	return c.loginError(ctx, "log in as "+user, err)
}

func (s *server) password(user string) (string, error) {
	if s.access.Password == nil {
		return "", nil
	}
	const op = "find the password"
	password, err := s.access.Password(user, s.address.Host)
	var known *backend.Error
	switch {
	case errors.As(err, &known):
		return "", err
	case err != nil:
		return "", s.fail(protocol.Config, op, err, "look at the file that it should be in")
	case hasBreak(password):
		return "", s.fail(protocol.Config, op, errors.New("it holds a line break or a zero byte"), "look at the file that it is in")
	}
	return password, nil
}

// loginError finds out what the failure of a log in means. The library does not
// always tell the code, but the control connection has seen it.
func (c *conn) loginError(ctx context.Context, op string, err error) error {
	verb, code, text := c.control.verb, c.control.code, c.told(err)
	inLogin := verb == "USER" || verb == "PASS"
	switch {
	case over(ctx) != nil:
		return c.server.lost(ctx, op, text)
	case c.tls == nil && (code == 421 || code/100 == 5) && needsTLS(err.Error()):
		return c.server.fail(protocol.Permission, op, text, "use ftps: in the address")
	case c.control.goodbye != "":
		return c.server.busy(op, c.clean(c.control.goodbye))
	case inLogin && code >= 400 && overfull(err.Error()):
		return c.server.busy(op, text.Error())
	case inLogin && code >= 300 && code < 600 && c.control.broken == nil:
		return c.server.fail(protocol.Permission, op, fmt.Errorf("the server refused: %w", text), c.advice())
	case verb == "PBSZ" || verb == "PROT":
		return c.server.fail(protocol.Unreachable, op, fmt.Errorf("the server does not protect listings: %w", text),
			"let it accept PROT P")
	}
	return c.server.lost(ctx, op, text)
}

func (c *conn) advice() string {
	switch {
	case c.server.address.User == "":
		return "name the user in the address: " + c.server.address.Scheme + "://user@host/path"
	case c.secret == "":
		return "no password is known for this user and host: give one in the password file, netrc or the environment"
	}
	return "look at the user in the address, and at the password in the password file, netrc or the environment"
}

var (
	fullText = regexp.MustCompile(`(?i)too many|maximum|limit|max\b.*users|connections`)
	tlsText  = regexp.MustCompile(`(?i)\b(tls|ssl)\b|encrypt|cleartext`)
)

// overfull reports that a refusal speaks of too many clients. Servers use the
// code of a wrong password for it.
func overfull(text string) bool { return fullText.MatchString(text) }

func needsTLS(text string) bool { return tlsText.MatchString(text) }
