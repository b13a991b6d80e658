package backend

import (
	"context"
	"strings"
	"time"

	"locksmith/backends/clock"
)

// A Listing says how far to look, and who is told.
type Listing struct {
	// Depth is how many directories deep a lock may be, 1 being directly in the
	// place; 0: the usual depth of this kind of place.
	Depth int
	Tell  func(Listed)
	// Step, if there is one, is called before each look at a file system, where a look
	// may hang. What waits for a server ends by itself.
	Step func()
	// Other, if there is one, is called for each file that may be another tool's lock, and is
	// not told because nothing in it is ours.
	Other func()
	// Others are the forms of locks of kinds that are not asked for: a directory of such a
	// form is no lock of any other kind, and neither is what makes the form, though they
	// might look like that. Files in them may be locks all the same.
	Others []Form
}

// A Form is how the directory of a lock is told from any other: the names of directories
// that are all in it.
type Form []string

// A Listed is a lock that was found.
type Listed struct {
	Lock   string // its address
	Report Report
	// Err is why it could not be looked at; or, if Lock is empty, a directory that
	// may have locks in it.
	Err error
}

// EscapePath writes a path as it stands in an address.
func EscapePath(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "%", "%25"), "?", "%3F")
}

// Below is the address of what is below the directory that an address names, with
// the same options: path is "" or begins with a slash.
func (n Name) Below(path string) Name {
	before, query, has := strings.Cut(string(n), "?")
	if path != "" {
		before = strings.TrimSuffix(before, "/") + EscapePath(path) // the root has a slash already
	}
	if !has {
		return Name(before)
	}
	return Name(before + "?" + query)
}

// A Reaper is a Backend whose address may also be that of a directory full of
// locks, where what was left behind is removed by age. No rule makes that safe
// against a holder that is alive but silent, so it is for an operator, or a job
// that an operator set up.
type Reaper interface {
	// Reap looks at every lock directly in the directory. Its error says why it did
	// not look at all of them, or that ctx has ended before all was done; the list
	// has what was done until then. What else could not be removed is in the list.
	Reap(ctx context.Context, r Reaping) ([]Reaped, error)
}

// A Reaping says what is to be removed.
type Reaping struct {
	MaxAge time.Duration // how old it must at least be, by the server's clock, unless proven dead
	Names  string        // of the locks, a pattern as of path.Match; "" for all
	Remove bool          // false: only tell what would be removed
	// Watch is how long to watch for heartbeats at most. What would have to be watched
	// for longer stays.
	Watch time.Duration
	Clock clock.Clock // to watch by; nil: this machine's
}

// What a Reaped is.
const (
	ReapedEmpty  = "empty lock" // says nothing about its holder
	ReapedHolder = "holder"
	ReapedWaiter = "waiter"
	ReapedOther  = "other" // not a lock
)

// A Reaped is one thing that was looked at.
type Reaped struct {
	Path    string
	What    string
	Holder  Holder
	Age     time.Duration // since it last gave a sign of life, by the server's clock
	Due     bool          // it is old enough and shows no sign of life, or it is proven dead
	Removed bool
	Note    string // why it stays, though it may be due
	Err     error  // why it was to be removed and could not be
}
