package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	"locksmith/protocol"
)

// tlsConfig is for one control connection and its data connections. Those
// resume the session of the former, which servers ask for as a proof that both
// are ours; so they need the same name and the same cache.
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

// secure goes over to TLS. Nothing but AUTH goes over the wire before.
func (c *conn) secure(ctx context.Context) error {
	const op = "begin TLS"
	code, text, err := c.control.ask("AUTH TLS")
	switch {
	case c.control.goodbye != "":
		return c.server.busy(op, c.clean(c.control.goodbye))
	case err != nil:
		return c.server.lost(ctx, op, c.told(err))
	case code/100 != 2:
		return c.server.fail(protocol.Unreachable, op, fmt.Errorf("the server refused: %d %s", code, c.clean(text)),
			"let the server offer TLS (AUTH TLS), or use ftp: where anybody on the way may read the password")
	case c.control.in.Buffered() > 0:
		return c.server.fail(protocol.Unreachable, op, errors.New("something came in the clear that belongs behind TLS"),
			"find out who sits between us and the server")
	}
	c.tls = c.server.tlsConfig()
	w := c.control.wire
	secured := tls.Client(w, c.tls)
	c.pace.next(c.pace.timeout)
	if err := secured.HandshakeContext(ctx); err != nil {
		return c.handshakeError(ctx, op, err)
	}
	told := c.control.told
	c.control = newControl(secured, w)
	c.control.told = told
	return nil
}

func (c *conn) handshakeError(ctx context.Context, op string, err error) error {
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return c.server.fail(protocol.Unreachable, op, c.told(err),
			"name the server as in its certificate, and its issuer with --ca; --insecure gives up knowing who reads the password and answers")
	}
	return c.server.lost(ctx, op, c.told(err))
}
