package ftp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"strconv"
	"strings"

	"locksmith/backends/servers"
	"locksmith/protocol"
)

const (
	maxLine  = 8 << 10  // of a line of a reply, in bytes
	maxReply = 64 << 10 // of all that answers one command
)

// greeting stands for the command that the greeting answers.
const greeting = "greeting"

// A control is the control connection as the library sees it. It passes on commands and replies
// line by line. So it always knows which command was sent last, and that nothing came that nobody
// asked for.
type control struct {
	net.Conn   // the wire, or TLS on it
	wire       *wire
	in         *bufio.Reader
	rest       []byte // of a line that was read, what the library has not taken yet
	left       int    // how many more bytes may come in reply
	broken     error  // why the connection cannot be used any more
	noPassword bool   // no password is known, so none is sent

	verb    string              // the last command sent in this call
	code    int                 // of the first reply to it
	within  string              // how the last line of the current reply begins; empty: the reply has ended
	goodbye string              // a reply 421, with which the server hangs up
	replies map[string][]string // replies that somebody may ask for later
}

func newControl(conn net.Conn, w *wire) *control {
	return &control{Conn: conn, wire: w, in: bufio.NewReaderSize(conn, maxLine), left: maxReply,
		verb: greeting, replies: map[string][]string{greeting: nil, "USER": nil, "PASS": nil, "FEAT": nil}}
}

// Read implements net.Conn. It never returns more than one line. Otherwise the library could keep
// back some text where we do not see it.
func (c *control) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		if c.broken != nil {
			return 0, c.broken
		}
		line, err := c.in.ReadSlice('\n')
		if err = c.check(line, err); err != nil {
			c.broken = err
			return 0, err
		}
		c.note(line)
		c.rest = line
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *control) check(line []byte, err error) error {
	c.left -= len(line)
	switch {
	case errors.Is(err, bufio.ErrBufferFull), c.left < 0:
		return errors.New("the server's reply has no end")
	case errors.Is(err, io.EOF) && len(line) > 0:
		return io.ErrUnexpectedEOF
	case errors.Is(err, io.EOF):
		return errClosed
	case err == nil && c.within == "" && !beginsReply(line):
		// The library would take "SSH-2.0" for a reply, and wait for its end.
		return fmt.Errorf("%q is no reply of an FTP server", protocol.CleanText(strings.TrimSpace(string(line)), servers.MaxSaid))
	}
	return err
}

// beginsReply reports whether a line has the form "257 text" or "257-text".
func beginsReply(line []byte) bool {
	return len(line) > 3 && (line[3] == ' ' || line[3] == '-') &&
		!bytes.ContainsFunc(line[:3], func(r rune) bool { return r < '0' || r > '9' })
}

// note notes what a line of a reply says.
func (c *control) note(line []byte) {
	text := strings.TrimRight(string(line), "\r\n")
	switch {
	case c.within == "":
		c.begin(text)
	case strings.HasPrefix(text, c.within):
		c.within = ""
	}
	if lines, wanted := c.replies[c.verb]; wanted {
		c.replies[c.verb] = append(lines, text)
	}
}

// begin notes the first line of a reply.
func (c *control) begin(text string) {
	code := text[:3]
	if c.code == 0 {
		c.code, _ = strconv.Atoi(code)
	}
	if text[3] == '-' {
		c.within = code + " "
	}
	if code == "421" {
		c.goodbye = text
	}
}

// Write implements net.Conn. It sends one command. It sends nothing if b is not one command, or
// if the server has hung up or is out of step.
func (c *control) Write(b []byte) (int, error) {
	if c.broken == nil {
		c.broken = c.ready(b)
	}
	if c.broken != nil {
		return 0, &servers.UnsentError{Cause: c.broken}
	}
	verb, _, _ := strings.Cut(strings.TrimRight(string(b), "\r\n"), " ")
	c.wire.deadlines.next(c.wire.deadlines.replyTime(verb))
	c.verb, c.code, c.left = verb, 0, maxReply
	if _, asked := c.replies[verb]; asked {
		c.replies[verb] = nil
	}
	n, err := c.Conn.Write(b)
	c.broken = err
	return n, err
}

func (c *control) ready(b []byte) error {
	if err := checkCommand(b); err != nil {
		return err
	}
	if c.noPassword && bytes.HasPrefix(b, []byte("PASS ")) {
		return errNoPassword
	}
	if err := c.wire.deadlines.over(); err != nil {
		return err
	}
	return c.quiet()
}

// checkCommand is the last guard against a second command inside the first.
func checkCommand(b []byte) error {
	command, ok := bytes.CutSuffix(b, []byte("\r\n"))
	if !ok || bytes.ContainsAny(command, "\r\n\x00") || len(command) == 0 {
		return errors.New("a command holds control characters, or is too long")
	}
	return nil
}

// quiet makes sure that nothing has come since the last reply: neither the end of the connection,
// nor a line that would be taken for the next reply.
func (c *control) quiet() error {
	if len(c.rest) > 0 {
		return errOutOfStep
	}
	c.wire.poll = true
	line, err := c.in.Peek(1)
	c.wire.poll = false
	switch {
	case len(line) > 0:
		line, _ = c.in.Peek(c.in.Buffered())
		if bytes.HasPrefix(line, []byte("421")) {
			line, _, _ = bytes.Cut(line, []byte("\n"))
			c.goodbye = string(line)
			return fmt.Errorf("%w: %s", errClosed, protocol.CleanText(strings.TrimSpace(c.goodbye), servers.MaxSaid))
		}
		return errOutOfStep
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	case errors.Is(err, io.EOF):
		return errClosed
	}
	return fmt.Errorf("%w: %w", errClosed, err)
}

// ask sends a command, unless it is empty, and returns the reply.
func (c *control) ask(command string) (code int, text string, err error) {
	if command != "" {
		if _, err := c.Write([]byte(command + "\r\n")); err != nil {
			return 0, "", err
		}
	}
	// Nothing is left behind in this reader, because Read returns single lines.
	return textproto.NewReader(bufio.NewReader(c)).ReadResponse(0)
}

// answer makes the next Read return a reply of ours.
func (c *control) answer(reply string) { c.rest = []byte(reply + "\r\n") }
