package ftpserver

import (
	"io"
	"strings"
)

// act makes a fault happen, for the reply that the client does not get. It
// returns false if nothing passes any more. The caller holds the proxy's mu.
func (l *link) act(f Fault, reply []byte) bool {
	switch f.Do {
	case Stall:
		l.silent = true
		return false
	case Reply:
		_, _ = io.WriteString(l.client, f.Text+"\r\n") // the client may have left
		if !strings.HasPrefix(f.Text, "421") {
			return true
		}
	case Truncate:
		_, _ = l.client.Write(reply[:len(reply)/2])
	case Reset:
		l.linger(0)
	}
	l.close()
	return false
}
