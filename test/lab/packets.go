package lab

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// A Peer answers one program, which sends packets and waits for the answer to each. Hear gets the
// first word of a packet, and the rest. Gone, if not nil, is called when the program has gone.
type Peer struct {
	Hear func(word, rest string) (answer string)
	Gone func()
}

// Packets answers on a local socket until the test ends. It calls peer for each program that
// connects.
func Packets(t *testing.T, peer func() Peer) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "recorder")
	listener, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: socket, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.AcceptUnix()
			if err != nil {
				return
			}
			go peer().answer(conn)
		}
	}()
	return socket
}

func (p Peer) answer(conn *net.UnixConn) {
	defer conn.Close()
	if p.Gone != nil {
		defer p.Gone()
	}
	buf := make([]byte, 2048)
	for {
		n, err := conn.Read(buf)
		if err != nil || n == 0 {
			return
		}
		word, rest, _ := strings.Cut(string(buf[:n]), " ")
		if _, err := conn.Write([]byte(p.Hear(word, rest))); err != nil {
			return
		}
	}
}
