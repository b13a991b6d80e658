// Package memory stores in files what watch.Memory remembers, and the greatest fencing token of each
// lock. Each file is small, in a directory of the user's own, and for one lock and one user; those of
// watch.Memory are for one start of the machine, too.
//
// It promises that a file counts only if it is the user's own and nobody else can write it, that
// a file is replaced as a whole, and that the number of files is limited. Anything wrong with the
// files costs only what they remember, and some seconds if their disk does not answer.
//
// It does not promise that a later try still finds what an earlier one saw. It works on Linux
// alone: elsewhere nothing distinguishes one start of a machine from another.
package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/detached"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/watch"
)

// Of returns the memory of the lock at a canonical address, for requests that use clock.Boot; nil
// where there is none. Trouble goes to debug.
func Of(lock string, debug func(error)) *watch.Memory {
	boot := clockOf(owner.Here())
	if boot == "" {
		return nil
	}
	return watch.NewMemory(boot+"\n"+lock, &files{name: nameOf(boot, lock)}, debug)
}

// Trial is why what this user's tries see is not remembered on this host; nil: it is. It writes a file.
func Trial() error {
	if clockOf(owner.Here()) == "" {
		return errors.New("nothing here tells this start of the machine from another")
	}
	return (&files{name: nameOf("trial", "")}).Save("")
}

// nameOf is the name of a file with what is remembered of a lock.
func nameOf(what, lock string) string {
	name := sha256.Sum256([]byte(what + "\x00" + lock))
	return hex.EncodeToString(name[:16])
}

// clockOf names the clock of one machine since its start, or returns "" if that cannot be
// distinguished from others. Clones of a machine may share its boot id, so the name also has
// machine id and host name.
//
// Without a PIDNS there is no /proc, and the clock cannot be told. With a PIDNS and without a TimeNS
// the kernel has no time namespaces, and so one clock. In another time namespace than the machine's
// first, CLOCK_BOOTTIME may be shifted.
func clockOf(p owner.Place) string {
	if p.Boot == "" || p.PIDNS == "" || p.TimeNS != "" && p.TimeNS != process.FirstTimeNS {
		return ""
	}
	return strings.Join([]string{p.Boot, p.Machine, p.Host}, "\n")
}

// files is the store of one lock. It writes the file of that name in the first of the user's
// directories that can be used. It reads a file in any of them, because cron may know other
// directories than a shell.
type files struct {
	name string
	hung bool // a call did not come back, so no other call is made
}

// answerTime is how long a home directory on a server may take to answer.
const answerTime = 10 * time.Second

// ErrHung says that where tries remember does not answer. No other call is made to it.
var ErrHung = errors.New("its place does not answer")

// Load implements watch.Store.
func (f *files) Load() (string, error) {
	return within(f, func() (string, error) {
		text, _, err := load(places(), f.name)
		return text, err
	})
}

// Save implements watch.Store.
func (f *files) Save(text string) error {
	_, err := within(f, func() (struct{}, error) { return struct{}{}, save(places(), f.name, text) })
	return err
}

// within makes a call, and leaves it behind if it hangs.
func within[T any](f *files, call func() (T, error)) (T, error) {
	var none T
	if f.hung {
		return none, ErrHung
	}
	d := detached.Go(call)
	if !d.Await(context.Background(), clock.Runtime{}, answerTime, 0) {
		f.hung = true
		return none, ErrHung
	}
	return d.Result()
}
