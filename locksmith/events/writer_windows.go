package events

import (
	"fmt"
	"os"
)

// A sink is a file that is open for appending.
type sink struct{ file *os.File }

// Append opens a file, and makes it if there is none.
func Append(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return &Writer{to: sink{f}}, nil
}

// Inherit is not to be had here: handles have no small numbers.
func Inherit(fd int) (*Writer, error) {
	return nil, fmt.Errorf("descriptor %d cannot be inherited on windows; name a file", fd)
}

func (s sink) write(line []byte) (int, error) { return s.file.Write(line) }
func (s sink) close() error                   { return s.file.Close() }
