package events

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
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

// Create opens a file to be written anew.
func Create(path string) (*os.File, error) { return os.Create(path) }

// Inherit takes over a handle that this process was started with. No child of ours inherits it.
func Inherit(handle int) (*Writer, error) {
	h := windows.Handle(handle)
	if kind, err := windows.GetFileType(h); err != nil || kind == windows.FILE_TYPE_UNKNOWN {
		return nil, fmt.Errorf("handle %d is not open", handle)
	}
	if err := windows.SetHandleInformation(h, windows.HANDLE_FLAG_INHERIT, 0); err != nil {
		return nil, fmt.Errorf("handle %d: %w", handle, err)
	}
	return &Writer{to: sink{os.NewFile(uintptr(h), "events")}}, nil
}

func (s sink) write(line []byte) (int, error) { return s.file.Write(line) }
func (s sink) close() error                   { return s.file.Close() }
