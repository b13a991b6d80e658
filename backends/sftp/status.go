//go:build unix

package sftp

import (
	"fmt"

	"locksmith/backends/servers"
	"locksmith/protocol"
)

// The codes of a status (section 7 of the draft). Servers use those of later versions, too.
const (
	statusOK        = 0
	statusEOF       = 1
	statusNoFile    = 2
	statusDenied    = 3
	statusFailure   = 4
	statusBad       = 5 // OpenSSH: EINVAL and ENAMETOOLONG
	statusNoSupport = 8
)

// A statusError is the server's refusal.
type statusError struct {
	code uint32
	text string // the server's, cleaned
}

func (e *statusError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("the server refused with code %d", e.code)
	}
	return fmt.Sprintf("the server refused with code %d: %s", e.code, e.text)
}

// status reads a reply that only says whether it worked.
func (c *call) status() error {
	r, err := c.result()
	if err != nil {
		return err
	}
	return c.statusOf(r)
}

// statusOf is nil for "done", and a *statusError for a refusal. Anything else ends the
// connection.
func (c *call) statusOf(r reply) error {
	in := reader{rest: r.body}
	code := in.uint32()
	if r.kind != typeStatus || in.bad {
		return c.malformed()
	}
	if code == statusOK {
		return nil
	}
	return &statusError{code, protocol.CleanText(in.string(), servers.MaxSaid)} // some send no text
}

// refusal is statusOf for a reply that should have been another kind: "done" is wrong there.
func (c *call) refusal(r reply) error {
	if err := c.statusOf(r); err != nil {
		return err
	}
	return c.malformed()
}

func (c *call) attrs() (attrs, error) {
	r, err := c.result()
	if err != nil {
		return attrs{}, err
	}
	if r.kind != typeAttrs {
		return attrs{}, c.refusal(r)
	}
	in := reader{rest: r.body}
	a := in.attrs()
	if in.bad {
		return attrs{}, c.malformed()
	}
	return a, nil
}

func (c *call) handle() (string, error) {
	r, err := c.result()
	if err != nil {
		return "", err
	}
	if r.kind != typeHandle {
		return "", c.refusal(r)
	}
	in := reader{rest: r.body}
	h := in.string()
	if in.bad || len(h) > 256 { // section 4 of the draft
		return "", c.malformed()
	}
	return h, nil
}

// names are the names in a reply, which is size bytes long.
func (c *call) names() (all []item, size int, err error) {
	r, err := c.result()
	if err != nil {
		return nil, 0, err
	}
	if r.kind != typeName {
		return nil, 0, c.refusal(r)
	}
	in := reader{rest: r.body}
	all = in.names()
	if in.bad {
		return nil, 0, c.malformed()
	}
	return all, len(r.body), nil
}
