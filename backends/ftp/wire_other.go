//go:build !linux

package ftp

import "time"

// readNow reads what has arrived already, or arrives within a millisecond.
func (w *wire) readNow(b []byte) (int, error) {
	if err := w.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return 0, err
	}
	return w.Conn.Read(b)
}
