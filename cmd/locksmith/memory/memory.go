// Package memory keeps in files what watch.Memory remembers: for each lock, and each user of
// a machine since it was started, a small file in a directory of the user's own.
//
// Promised: a file counts only if it is the user's own and nobody else can write it, and it is
// replaced as a whole; the files do not become more and more. Whatever is wrong with them
// costs nothing but what they remember, and some seconds if their disk does not answer.
//
// Not promised: that what was seen is still there later. It is for Linux alone: elsewhere
// nothing tells one start of a machine from another.
package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/watch"
)

// Of is the memory of the lock at a canonical address, for requests with clock.Boot; nil where
// there is none. What is wrong with it is told to debug.
func Of(lock string, debug func(error)) *watch.Memory {
	boot := clockOf(owner.Here())
	if boot == "" {
		return nil
	}
	name := sha256.Sum256([]byte(boot + "\x00" + lock))
	f := &files{name: hex.EncodeToString(name[:16])}
	return watch.NewMemory(boot+"\n"+lock, f, debug)
}

// firstTimeNS is the time namespace in which a machine starts (PROC_TIME_INIT_INO of
// Linux). In another one CLOCK_BOOTTIME may be shifted, and the name of one that is gone is
// used again (time_namespaces(7)).
const firstTimeNS = "time:[4026531834]"

// clockOf names the clock of a machine since it was started; "" if it cannot be told from
// others. Clones of a machine may have its boot id; and a kernel without time namespaces
// names none. Host and machine are there to tell clones by.
func clockOf(p owner.Place) string {
	if p.Boot == "" || p.PIDNS == "" || p.TimeNS != "" && p.TimeNS != firstTimeNS {
		return ""
	}
	return strings.Join([]string{p.Boot, p.Machine, p.Host}, "\n")
}

// files is the store of one lock: the file with its name, in the first of the user's
// directories that can be used. What is in any of them counts, because cron may know others
// than a shell.
type files struct {
	name string
	hung bool // a call did not come back: no other is made
}

// answerTime is how long a home on a server may take to answer.
const answerTime = 10 * time.Second

var errHung = errors.New("its place does not answer")

// Load implements watch.Store.
func (f *files) Load() (string, error) {
	return within(f, func() (string, error) { return load(f.name) })
}

// Save implements watch.Store.
func (f *files) Save(text string) error {
	_, err := within(f, func() (struct{}, error) { return struct{}{}, save(f.name, text) })
	return err
}

// within leaves a call behind that hangs.
func within[T any](f *files, call func() (T, error)) (T, error) {
	var none T
	if f.hung {
		return none, errHung
	}
	d := backend.Detach(call)
	if !d.Await(context.Background(), clock.Runtime{}, answerTime, 0) {
		f.hung = true
		return none, errHung
	}
	return d.Result()
}
