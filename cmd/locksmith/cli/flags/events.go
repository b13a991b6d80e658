package flags

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksmith/backends"
	"locksmith/locksmith"
	"locksmith/locksmith/events"
)

// Events is the flag --events: a helper's events go to a file, or to a descriptor that we were
// started with. The zero value is nowhere.
type Events struct {
	path string
	fd   int
}

// Set implements pflag.Value.
func (e *Events) Set(text string) error {
	number, isFD := strings.CutPrefix(text, "fd:")
	switch {
	case text == "":
		return errors.New("the name of the file is empty")
	case !isFD:
		*e = Events{path: text}
		return nil
	}
	fd, err := strconv.Atoi(number)
	if err != nil || fd <= 2 {
		return fmt.Errorf("%q is not a descriptor after 2; a file of this name is ./%s", text, text)
	}
	*e = Events{fd: fd}
	return nil
}

// Given reports whether events go somewhere.
func (e *Events) Given() bool { return *e != Events{} }

// String implements pflag.Value.
func (e *Events) String() string {
	if e.fd > 0 {
		return "fd:" + strconv.Itoa(e.fd)
	}
	return e.path
}

// Type names the flag's argument in help texts.
func (e *Events) Type() string { return "FILE" }

// Apart refuses the file of a lock itself, in which our first event would look like an unknown
// holder.
func (e *Events) Apart(lock string) error {
	if !backends.IsFile(lock, e.path) {
		return nil
	}
	return Usagef("--events %s is where the lock %s is, and would keep everybody out of it: name another file", e.path, lock)
}

// Record makes a helper write down its events. It returns a function to call with what the
// helper's Run returns. A lock matters more than its history: if that cannot be written, there
// is a warning and no history.
func (e *Events) Record(h *locksmith.Helper, command string) (finish func(time.Duration, error)) {
	if *e == (Events{}) {
		return func(time.Duration, error) {}
	}
	w, err := e.open()
	if err != nil {
		h.Log.Warn("cannot write down events, going on without", "lock", h.Address, "error", err)
		return func(time.Duration, error) {}
	}
	return h.Record(w, command).Finish
}

func (e *Events) open() (*events.Writer, error) {
	if e.fd > 0 {
		return events.Inherit(e.fd)
	}
	return events.Append(e.path)
}

// Write writes down one event of a command that is no helper, if events go anywhere.
func (e *Events) Write(event events.Event) error {
	if *e == (Events{}) {
		return nil
	}
	w, err := e.open()
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }() // each write is one of its own
	return w.Write(event)
}
