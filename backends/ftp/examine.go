package ftp

import (
	"context"
	"crypto/tls"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
)

var _ dirs.Examiner = (*Dir)(nil)

// Examine implements dirs.Examiner. One more connection is left idle while the other checks
// go on, if the server takes another. If it does not, one is left idle after the checks.
func (d *Dir) Examine(ctx context.Context, name string, e backend.Examination, tell backend.Tell) (rest func() error, err error) {
	s, err := d.Session(ctx)
	if err != nil {
		return nil, err
	}
	encryption(s, tell)
	idle := beginIdle(ctx, d.server.dial, e.Idle)
	return func() error {
		if err := d.files(ctx, name, tell); err != nil {
			return err
		}
		if err := d.connections(ctx, name, idle, tell); err != nil {
			return err
		}
		if idle == nil {
			idle = beginIdle(ctx, d.dialAgain, e.Idle)
		}
		d.tellIdle(ctx, s, e.Idle, idle, tell)
		return ctx.Err()
	}, nil
}

func encryption(s Session, tell backend.Tell) {
	const name = "encryption"
	switch {
	case s.TLS != "":
		tell.Fit(name, s.TLS)
	case offersTLS(s.Features):
		tell.Weak(name, "none: whoever is on the way can read the password and answer for the server", "use ftps: in the address; the server offers TLS")
	default:
		tell.Weak(name, "none, and the server does not offer TLS: whoever is on the way can read the password and answer for the server",
			"let the server offer TLS and use ftps:, or stay inside of a network that you trust")
	}
}

func offersTLS(features []string) bool {
	for _, f := range features {
		if f = strings.ToUpper(f); strings.HasPrefix(f, "AUTH") && strings.Contains(f, "TLS") {
			return true
		}
	}
	return false
}

// A Session is what a server says about itself.
type Session struct {
	Greeting string   // before the log in
	Welcome  string   // after it
	Status   string   // the answer to STAT, where some tell their limits; may be a refusal
	Features []string // the lines of FEAT
	TLS      string   // the version of the protocol; empty: in the clear
}

// Session asks the server about itself. All texts are the server's words, in lines without
// control characters.
func (d *Dir) Session(ctx context.Context) (Session, error) {
	var s Session
	err := d.call(ctx, "ask for the server's status", func(c *conn) error {
		_, status, err := c.control.ask("STAT")
		if err != nil {
			return err
		}
		s = Session{Greeting: c.lines(greeting), Welcome: c.welcome(), Status: c.words(status), Features: c.features()}
		if t, ok := c.control.Conn.(*tls.Conn); ok {
			s.TLS = tls.VersionName(t.ConnectionState().Version)
		}
		return nil
	})
	return s, err
}

// welcome is the answer to the last step of the log in.
func (c *conn) welcome() string {
	if s := c.lines("PASS"); s != "" {
		return s
	}
	return c.lines("USER")
}

func (c *conn) features() []string {
	var all []string
	for _, line := range c.control.replies["FEAT"] {
		if feature, ok := strings.CutPrefix(line, " "); ok {
			all = append(all, c.clean(feature))
		}
	}
	return all
}

func (c *conn) lines(verb string) string { return c.words(strings.Join(c.control.replies[verb], "\n")) }

// words cleans each line of a text.
func (c *conn) words(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = c.clean(line)
	}
	return strings.Join(lines, "\n")
}
