// Package mishaps is the table of what may happen to a lock: at which moments, and what must come
// of it. test/crash causes the mishaps on disks and at FTP servers, test/nfslab over NFS. Each of
// them says how, or why it cannot (Cover). What they saw is in test/crash/CRASHES.md.
//
// A mishap happens to a victim: a helper that waits for the lock or has it. Meanwhile a rival
// wants the lock, too. Package mishaps imports nothing of ours.
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
	AtOK      = "at OK"     // the victim has the lock and is about to say so
	Holding   = "holding"   // the victim has said so, and sleeps
	Heartbeat = "heartbeat" // the victim is about to send one, or one is under way
	Releasing = "releasing" // the victim is about to remove the first part of the lock, or is removing it
)

// Moments are all moments, in order.
var Moments = []string{Waiting, AtOK, Holding, Heartbeat, Releasing}

// A Mishap is a row of the table.
type Mishap struct {
	What   string
	Run    bool              // the victim is locksmith run, and its command a shell
	Orphan bool              // nobody is left who could be told
	Not    map[string]string // moments at which it makes no sense, and why
	Want   Expectation
}

// An Expectation is what must be seen, by moment; "" stands for all other moments. An entry for
// one place only has the place's name before the moment, with a space between. Of several
// outcomes, separated by semicolons, each is right.
type Expectation map[string]string

// Elsewhere is the name of all places where the victim is on a host of its own, so that nobody
// can prove its death. There the first request of a step is under way when the mishap comes.
const Elsewhere = "elsewhere"

// Of returns what must be seen at a moment at a place. The place has several names, the narrowest
// first.
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

// measured matches what differs from run to run.
var measured = regexp.MustCompile(` \([^()]*\)`)

// Timeless is what was seen, without what differs from run to run: times in parentheses.
func Timeless(seen string) string { return measured.ReplaceAllString(seen, "") }

// Allows reports whether an outcome is right.
func (e Expectation) Allows(seen, moment string, place ...string) bool {
	return slices.Contains(strings.Split(e.Of(moment, place...), "; "), Timeless(seen))
}

// MayBeLost reports whether a release may or may not be called a loss, depending on how far it
// was. Then EitherSaid counts as seen.
func (e Expectation) MayBeLost(moment string, place ...string) bool {
	return moment == Releasing && strings.Contains(e.Of(moment, place...), EitherSaid)
}

// but is e with the entries of others in place of its own.
func (e Expectation) but(others Expectation) Expectation {
	all := maps.Clone(e)
	maps.Copy(all, others)
	return all
}

// Cover checks that a place causes every mishap of the table, or says why it cannot.
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

// Failures are errors of system calls that only the disk or the server causes: an error of the
// disk, a full disk, a disk made read-only, a file that the server does not have any more; a
// signal; a directory that does not exist yet.
var Failures = []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EINTR, syscall.ENOENT, syscall.EROFS, syscall.ESTALE}
