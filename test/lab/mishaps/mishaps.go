// Package mishaps is the table of what may happen to a lock: at which moments, and what must
// come of it. test/crash provokes them on disks and at FTP servers, test/nfslab over NFS; each
// says how, or why it cannot (Cover). What they have seen is in test/crash/CRASHES.md.
//
// A mishap happens to a victim, which is a helper that waits for the lock or has it, while a
// rival wants the lock, too. Package mishaps imports nothing of ours.
package mishaps

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The moments in a victim's life at which something may happen to it.
const (
	Waiting   = "waiting"   // somebody else has the lock
	AtOK      = "at OK"     // it has the lock and is about to say so
	Holding   = "holding"   // it has said so, and sleeps
	Heartbeat = "heartbeat" // it is about to send one, or one is under way
	Releasing = "releasing" // it is about to remove the first of what the lock is made of, or is at it
)

// Moments are all of them, in their order.
var Moments = []string{Waiting, AtOK, Holding, Heartbeat, Releasing}

// A Mishap is a row of the table.
type Mishap struct {
	What   string
	Run    bool              // the victim is locksmith run, and its command a shell
	Orphan bool              // nobody is left whom anybody could tell
	Not    map[string]string // moments that make no sense, and why
	Want   Expectation
}

// An Expectation is what must be seen, by moment; "" stands for all others. What is to be seen
// at one place only has the name of the place before the moment, with a space between them if
// there is a moment. Of several outcomes, with semicolons between them, each is right.
type Expectation map[string]string

// Elsewhere is the name of all places where nobody can prove a death, for the victim is on a
// host of its own, and where the first request of what is to happen is under way when the
// mishap comes.
const Elsewhere = "elsewhere"

// Of is what must be seen at a moment at a place, which has several names, the narrowest first.
func (e Expectation) Of(moment string, place ...string) string {
	for _, name := range place {
		for _, key := range []string{name + " " + moment, name} {
			if want, known := e[key]; known {
				return want
			}
		}
	}
	if want, known := e[moment]; known {
		return want
	}
	return e[""]
}

// measured is what differs from run to run.
var measured = regexp.MustCompile(` \([^()]*\)`)

// Timeless is what was seen without what differs from run to run: times in parentheses.
func Timeless(seen string) string { return measured.ReplaceAllString(seen, "") }

// Allows reports whether an outcome is right.
func (e Expectation) Allows(seen, moment string, place ...string) bool {
	return slices.Contains(strings.Split(e.Of(moment, place...), "; "), Timeless(seen))
}

// MayBeLost reports whether a release may be called a loss, or not: it depends on how far it was.
// What is seen is EitherSaid then.
func (e Expectation) MayBeLost(moment string, place ...string) bool {
	return moment == Releasing && strings.Contains(e.Of(moment, place...), EitherSaid)
}

// but is the same with other cells.
func (e Expectation) but(others Expectation) Expectation {
	all := maps.Clone(e)
	maps.Copy(all, others)
	return all
}

// Cover makes sure that a place provokes every mishap of the table, or says why it cannot.
func Cover(t testing.TB, provokes []Mishap, cannot map[string]string) {
	t.Helper()
	known := map[string]bool{}
	for _, m := range All {
		known[m.What] = true
		does := slices.ContainsFunc(provokes, func(p Mishap) bool { return p.What == m.What })
		if why := cannot[m.What]; does == (len(why) > 10) {
			t.Errorf("%q: provoked: %v, but why it cannot be is %q", m.What, does, why)
		}
	}
	for what := range cannot {
		if !known[what] {
			t.Errorf("%q is no mishap", what)
		}
	}
}

// Failures are what a system call may say though only the disk or the server is to blame: an
// error of the disk, a full one, one that was made read-only, a file that the server has no
// more; a signal; a directory that is not there yet.
var Failures = []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EINTR, syscall.ENOENT, syscall.EROFS, syscall.ESTALE}
