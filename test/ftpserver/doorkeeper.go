package ftpserver

import (
	"io"
	"net"
)

// A doorkeeper lets sessions in, and knows who is there.
type doorkeeper struct {
	net.Listener
	d *inProcess
}

func (k *doorkeeper) Accept() (net.Conn, error) {
	for {
		conn, err := k.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := k.d.admit(conn); admitted != nil {
			return admitted, nil
		}
		_, _ = io.WriteString(conn, "421 Too many connections\r\n") // as much as others do
		conn.Close()
	}
}

// A session is a control connection that counts until it is closed.
type session struct {
	net.Conn
	d *inProcess
}

// admit returns nil if there is no room.
func (d *inProcess) admit(conn net.Conn) net.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server == nil || d.place.MaxConns > 0 && len(d.sessions) >= d.place.MaxConns {
		return nil
	}
	s := &session{conn, d}
	d.sessions[s] = true
	d.handlers++
	return s
}

// Close makes room first: a client that sees the end may come back at once.
func (s *session) Close() error {
	s.d.mu.Lock()
	delete(s.d.sessions, s)
	s.d.mu.Unlock()
	return s.Conn.Close()
}
