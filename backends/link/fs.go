//go:build unix

package link

import (
	"context"
	"time"

	"locksmith/backends/lockfile"
	"locksmith/backends/process"
)

// An FS is the directory in which the lock is: the few calls that the algorithm
// makes. Names are those of files directly in it. Errors are the system's own
// (errors.Is with unix.ENOENT and the like). Each of the calls that change a name is
// one request to the server, made once; Create is several.
type FS interface {
	// Create makes a file that was not there, writes all of the content, and closes
	// it, so that a server has it. After an error there may be a file, and it may be
	// incomplete.
	Create(name, content string) error
	// Link gives a file another name that was not there.
	Link(from, to string) error
	Unlink(name string) error
	// Stat asks the server, not a cache, about what has this name. It follows no
	// link.
	Stat(name string) (lockfile.Stat, error)
	// Read is what Stat tells, of one and the same file as the content, of which it
	// reads no more than MaxContent+1 bytes. It follows no link and waits for
	// nothing. It may have an error for what is not a regular file.
	Read(name string) (lockfile.Stat, string, error)
	// Open keeps hold of a file, by more than its name. It follows no link.
	Open(name string) (File, error)
	// List opens the directory anew and reads it to the end. It may miss names that
	// come or go meanwhile.
	List() ([]string, error)
	// Await returns after d, when ctx ends, or sooner if it can notice that the file
	// goes away, or the process ends. It promises nothing but not to return much
	// later.
	Await(ctx context.Context, name string, keeper process.Process, d time.Duration)
	// Close gives up what Await keeps. Await may be called again.
	Close()
}

// A File is one file, whatever becomes of its name. Who has one open keeps its
// inode number from being used again on a local disk; elsewhere the calls say
// ESTALE when it is gone.
type File interface {
	StatServer() (lockfile.Stat, error)
	// Touch sets the modification time to the server's now.
	Touch() error
	// SetTime sets it to a time of the server's clock.
	SetTime(t time.Time) error
	Close() error
}
