package backend

import "strings"

// A Listing says how far to look, and who is told.
type Listing struct {
	// Depth is how many directories deep a lock may be, 1 being directly in the
	// place; 0: as is usual for this kind of place.
	Depth int
	Tell  func(Listed)
	// Step, if there is one, is called before each look at a file system, where a look
	// may hang. What waits for a server ends by itself.
	Step func()
	// Others are the forms of locks of kinds that are not asked for: no lock of any other
	// kind is in them, though it might look like that.
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
func Below(address, path string) string {
	before, query, has := strings.Cut(address, "?")
	if path != "" {
		before = strings.TrimSuffix(before, "/") + EscapePath(path) // the root has a slash already
	}
	if !has {
		return before
	}
	return before + "?" + query
}
