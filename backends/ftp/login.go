package ftp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	"locksmith/backends/servers"
	"locksmith/protocol"
)

// Anonymous is the user if an address names none. As the password RFC 1635 asks for a mail
// address.
const Anonymous, anonymousPassword = "anonymous", "locksmith@"

func (c *conn) logIn(ctx context.Context) error {
	user, password := Anonymous, anonymousPassword
	if c.server.address.User != "" {
		var err error
		user = c.server.address.User
		if password, c.source, err = c.server.password(); err != nil {
			return err
		}
		c.secret = password
		c.control.noPassword = password == ""
	}
	err := c.run(ctx, func(c *conn) error { return c.library.Login(user, password) })
	if err == nil {
		return nil
	}
	return c.loginError(ctx, "log in as "+user, err)
}

func (s *server) password() (password, source string, err error) {
	password, source, err = servers.Password(s.address, s.access)
	if hasBreak(password) {
		err = s.address.Name().Failure(protocol.Config, "find the password", errors.New("it holds a line break or a zero byte"), "look at the file that it is in")
	}
	return password, source, err
}

// loginError finds out why a log in failed. The library does not always tell the code, but the
// control connection has seen it.
func (c *conn) loginError(ctx context.Context, op string, err error) error {
	verb, code, text := c.control.verb, c.control.code, c.reason(err)
	inLogin := verb == "USER" || verb == "PASS"
	switch {
	case servers.Over(ctx) != nil:
		return c.server.lost(ctx, op, text)
	case c.tls == nil && (code == 421 || code/100 == 5) && needsTLS(err.Error()):
		return c.server.address.Name().Failure(protocol.Permission, op, text, "use ftps: in the address")
	case errors.Is(err, errNoPassword):
		return c.server.address.Name().Failure(protocol.Permission, op, errNoPassword, c.wherePasswords())
	case c.control.goodbye != "" && overfull(421, c.control.goodbye):
		return c.server.busy(op, c.clean(c.control.goodbye))
	case inLogin && overfull(code, err.Error()):
		return c.server.busy(op, text.Error())
	case inLogin && refuses(code, err.Error()) && c.control.broken == nil:
		return c.server.address.Name().Failure(protocol.Permission, op, fmt.Errorf("the server refused: %w", text), c.advice())
	case (verb == "PBSZ" || verb == "PROT") && code/100 == 5:
		return c.server.wrong(op, fmt.Errorf("the server does not protect listings: %w", text),
			"let it accept PROT P")
	}
	return c.server.lost(ctx, op, text)
}

func (c *conn) advice() string {
	if c.server.address.User == "" {
		return "name the user in the address: " + c.server.address.Scheme + "://user@host/path"
	}
	return "look at the user in the address, and at the password, which is from " + cmp.Or(c.source, "the caller")
}

func (c *conn) wherePasswords() string {
	_, host := c.server.hostPort()
	return fmt.Sprintf("put it into ~/.netrc (machine %s login %s password …), into a file that a profile names as password_file, or into $LOCKSMITH_PASSWORD, which run keeps from its command",
		host, c.server.address.User)
}

var (
	manyText   = pattern(`(?i)too many|maximum|\bmax\b|limit|no more|more than|exceed`)
	clientText = pattern(`(?i)user|client|connect|session|host|instance|logins|logged in`)
	// Failed log ins, and accounts or addresses that are locked because of them.
	lockedText = pattern(`(?i)fail|attempt|\btri(ed|es)\b|incorrect|invalid|wrong|\bbad\b|passw|authentication|\block(ed|out)\b|block|\bban(ned)?\b|disabled|suspended|expired|quota`)
	wrongText  = pattern(`(?i)fail|incorrect|invalid|wrong|denied|passw|user ?name`)
	tlsText    = pattern(`(?i)\b(tls|ssl)\b|encrypt|cleartext`)
)

// overfull reports whether a reply speaks of too many clients. Servers use the code of a wrong
// password for that, and nearly the same words for too many wrong passwords, where trying on
// makes things worse.
func overfull(code int, text string) bool {
	switch {
	case lockedText().MatchString(text):
		return false
	case code == 421:
		return true
	}
	return (code/100 == 4 || code/100 == 5) && manyText().MatchString(text) && clientText().MatchString(text)
}

// refuses reports whether a reply to USER or PASS is final. 4xx is not, except for a 430 that
// speaks of the user or the password, a code that RFC 959 does not know.
func refuses(code int, text string) bool {
	return code/100 == 3 || code/100 == 5 || code == 430 && wrongText().MatchString(text)
}

func needsTLS(text string) bool { return tlsText().MatchString(text) }

// tlsConfig is for one control connection and its data connections. Data connections resume the
// session of the control connection, which servers demand as proof that both are ours. So they
// need the same server name and the same cache.
func (s *server) tlsConfig() *tls.Config {
	_, host := s.hostPort()
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         host,
		RootCAs:            s.roots,
		InsecureSkipVerify: s.access.Insecure,
		ClientSessionCache: tls.NewLRUClientSessionCache(0),
	}
}

// beginTLS is the operation in errors.
const beginTLS = "begin TLS"

// secure begins TLS after the greeting if the scheme asks for it. Before that only AUTH is sent.
func (c *conn) secure(ctx context.Context) error {
	if !c.server.secure() {
		return nil
	}
	defer c.deadlines.begin(ctx)()
	const op = beginTLS
	code, text, err := c.control.ask("AUTH TLS")
	switch {
	case c.control.goodbye != "":
		return c.server.busy(op, c.clean(c.control.goodbye))
	case err != nil:
		return c.server.lost(ctx, op, c.reason(err))
	case code/100 == 4:
		return c.server.lost(ctx, op, fmt.Errorf("%d %s", code, c.clean(text)))
	case code/100 != 2:
		return c.server.wrong(op, fmt.Errorf("the server refused: %d %s", code, c.clean(text)),
			"let the server offer TLS (AUTH TLS), or use ftp: where anybody on the way may read the password")
	case c.control.in.Buffered() > 0:
		return c.server.wrong(op, errors.New("something came in the clear that belongs behind TLS"),
			"find out who sits between us and the server")
	}
	return c.handshake(ctx)
}

// handshake goes over to TLS.
func (c *conn) handshake(ctx context.Context) error {
	defer c.deadlines.begin(ctx)()
	c.tls = c.server.tlsConfig()
	w := c.control.wire
	secured := tls.Client(w, c.tls)
	c.deadlines.next(c.deadlines.timeout)
	if err := secured.HandshakeContext(ctx); err != nil {
		return c.handshakeError(ctx, beginTLS, err)
	}
	replies := c.control.replies
	c.control = newControl(secured, w)
	c.control.replies = replies
	return nil
}

func (c *conn) handshakeError(ctx context.Context, op string, err error) error {
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return c.server.wrong(op, c.reason(err),
			"name the server as in its certificate, and its issuer with --ca; --insecure gives up knowing who reads the password and answers")
	}
	if errors.As(err, new(tls.RecordHeaderError)) && c.server.implicit() {
		return c.server.wrong(op, errors.New("the server does not begin with TLS"), "write ?tls=explicit, and perhaps another port")
	}
	return c.server.lost(ctx, op, c.reason(err))
}
