package ftpserver

import (
	"bufio"
	"io"
	"strings"
	"time"
)

// up passes commands. TLS begins with a byte that no command has; from there on
// there are no lines.
func (l *link) up() {
	const handshake = 0x16
	r := bufio.NewReader(l.client)
	for {
		first, err := r.Peek(1)
		if err != nil {
			return
		}
		if first[0] == handshake {
			l.passUp(r)
			return
		}
		line, err := r.ReadString('\n')
		if err != nil || !l.command(line) {
			return
		}
	}
}

// passUp passes what is encrypted.
func (l *link) passUp(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		if err != nil || l.isSilent() {
			return
		}
		if _, err := l.server.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (l *link) isSilent() bool {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	return l.silent
}

// command records and passes a command, unless it is the one to fail. It returns
// false if it was the last.
func (l *link) command(line string) bool {
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.silent {
		return false
	}
	bare := strings.TrimRight(line, "\r\n")
	p.commands = append(p.commands, Command{Conn: l.index, At: time.Now(), Line: bare})
	var f *Fault
	if l.fault.onCommand(bare) {
		f, l.fault = &l.fault.Fault, nil
	}
	if f != nil && f.At == Before {
		return l.act(*f, nil)
	}
	if f != nil && f.At == Answered {
		l.answer = f
	}
	if _, err := io.WriteString(l.server, line); err != nil {
		return false
	}
	return f == nil || f.At != Sent || l.act(*f, nil)
}

// down passes replies.
func (l *link) down() {
	buf := make([]byte, 4096)
	for {
		n, err := l.server.Read(buf)
		if err != nil {
			return
		}
		time.Sleep(l.proxy.pause())
		if !l.reply(buf[:n]) {
			return
		}
	}
}

func (p *Proxy) pause() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay
}

// reply passes a reply, or what a fault leaves of it. It returns false if it was
// the last.
func (l *link) reply(text []byte) bool {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if l.silent {
		return false
	}
	if f := l.answer; f != nil {
		l.answer = nil
		return l.act(*f, text)
	}
	pass, hit := l.fault.onReply(len(text))
	if _, err := l.client.Write(text[:pass]); err != nil {
		return false
	}
	if !hit {
		return true
	}
	f := l.fault.Fault
	l.fault = nil
	return l.act(f, text[pass:])
}
