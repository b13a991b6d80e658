package ftp

import (
	"context"
	"crypto/tls"
	"strings"
)

// A Session is what a server says about itself.
type Session struct {
	Greeting string   // before the log in
	Welcome  string   // after it
	Status   string   // the answer to STAT, where some tell their limits; may be a refusal
	Features []string // the lines of FEAT
	TLS      string   // the version of the protocol; empty: in the clear
}

// Session asks the server about itself. All texts are the server's words, on
// lines without control characters.
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

// Features returns what the server says to FEAT, upper-case words with their
// parameters.
func (d *Dir) Features(ctx context.Context) ([]string, error) {
	s, err := d.Session(ctx)
	return s.Features, err
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
	for _, line := range c.control.told["FEAT"] {
		if feature, ok := strings.CutPrefix(line, " "); ok {
			all = append(all, c.clean(feature))
		}
	}
	return all
}

func (c *conn) lines(verb string) string { return c.words(strings.Join(c.control.told[verb], "\n")) }

// words is a text of several lines, each of them clean.
func (c *conn) words(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = c.clean(line)
	}
	return strings.Join(lines, "\n")
}
