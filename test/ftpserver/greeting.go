package ftpserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

const startLimit = time.Minute

// greets waits until a daemon answers at the address.
func greets(addr string, d daemon) error {
	var err error
	for limit := time.Now().Add(startLimit); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		if !d.alive() {
			return errors.New("it ended at once")
		}
		var said string
		if said, err = visit(addr); err == nil {
			return nil
		}
		if said != "" {
			return fmt.Errorf("it answered %q", said)
		}
	}
	return fmt.Errorf("no greeting after %v: %w", startLimit, err)
}

// visit reads a server's greeting and leaves again. Its session is over when
// visit returns, so that it does not count among the connections of the test.
func visit(addr string) (said string, err error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(startLimit / 2)); err != nil {
		return "", err
	}
	r := bufio.NewReader(conn)
	for !strings.HasPrefix(said, "220 ") {
		if said, err = r.ReadString('\n'); err != nil {
			return said, err
		}
		if !strings.HasPrefix(said, "220") {
			return said, errors.New("no greeting")
		}
	}
	if _, err := io.WriteString(conn, "QUIT\r\n"); err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, r)
	return "", err
}
