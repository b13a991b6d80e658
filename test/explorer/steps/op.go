//go:build unix

package steps

import (
	"time"

	"syscall"
)

// An OpKind says what a process asks of the world.
type OpKind uint8

const (
	OpDone  OpKind = iota // it has ended
	OpWork                // it works on something of its own, for as long as the adversary likes
	OpAwait               // it waits for a change
	// Questions whose answer no step of another process can change.
	OpNow
	OpToday
	OpJudge
	// Calls to the file server.
	OpMkdir
	OpSymlink
	OpRename
	OpRenameNew // to a name that does not exist
	OpRmdir
	OpRemoveAbandoned // remove a directory that is empty, marked, and has no pin
	OpUnlink
	OpCreate // makes an empty file
	OpWrite  // writes its content
	OpLink
	OpTouchFile
	OpPut    // writes an object, whether it exists or not
	OpPutNew // writes an object that does not exist yet
	OpDelete
	OpTouch
	OpKeep // set the times of the names in the listing To
	OpReadlink
	OpReadlinkNow // from the server, whatever the host has in its cache
	OpLook
	OpList
	OpStat
	OpRead
	OpOpen
	OpStatFile // of an open file
	OpHead
	OpGet
	// Calls to the kernel, about a directory.
	OpStake
	OpPin
	OpUnpin
	// What tries remember (watch.Memory).
	OpRecall
	OpRemember
	// Calls to the kernel of one machine, about the lock file.
	OpMake
	OpOpenLock
	OpByHand
	OpSize
	OpText
	OpFill
	OpStamp
	OpFlock
	OpNamed
	OpRemove
	OpShut
	OpSit
	OpQueue
	OpRest // sleep until the kernel lock is given
)

// Patient reports whether doing the step twice is as good as once. That holds for making a file,
// because the server recognizes the repeated request.
func (o Op) Patient() bool {
	return o.Kind == OpTouch || o.Kind == OpTouchFile || o.Kind == OpWrite || o.Kind == OpCreate
}

// An Op is the next step of a process.
type Op struct {
	Kind OpKind
	Name Text
	To   Text // the new name of a rename; the content of a symbolic link, a file, an object or the memory; the target of a link
	// Wait is how many milliseconds a process that awaits or works may pass.
	Wait    int32
	Subject int8 // whom a judge looks at; the descriptor that a call to the kernel is about
}

// Changes reports whether the step is a request to change something on the server.
func (o Op) Changes() bool { return o.Kind >= OpMkdir && o.Kind <= OpTouch }

// Creates reports whether the step is a request to make a name, unless it exists.
func (o Op) Creates() bool {
	return o.Kind == OpMkdir || o.Kind == OpSymlink || o.Kind == OpCreate || o.Kind == OpLink || o.Kind == OpPutNew
}

// Renames reports whether the step is a request to rename.
func (o Op) Renames() bool { return o.Kind == OpRename || o.Kind == OpRenameNew }

// Removes reports whether the step is a request to remove a name.
func (o Op) Removes() bool { return o.Kind == OpRmdir || o.Kind == OpUnlink || o.Kind == OpDelete }

// A Reply is the answer to an op.
type Reply struct {
	Err syscall.Errno
	// Value is a time in milliseconds, a text, a listing, a sight, a view or a verdict.
	Value int64
	// Given: since the last answer the kernel has given the process its lock on a file.
	Given bool
}

// AfterServerCrash is the answer to a request that was executed before the server crashed, and
// that the client repeated afterwards. The server no longer knows that both are the same.
func (o Op) AfterServerCrash() syscall.Errno {
	if o.Creates() {
		return syscall.EEXIST
	}
	return syscall.ENOENT
}

// A Sight is what a look at a directory shows.
type Sight struct {
	Stamp int32
	Links int32
}

// Pack returns the sight as the value of a reply.
func (s Sight) Pack() int64 { return int64(s.Stamp)<<16 | int64(s.Links) }

// UnpackSight returns the sight that is the value of a reply.
func UnpackSight(v int64) Sight { return Sight{Stamp: int32(v >> 16), Links: int32(v & 0xffff)} }

// OK is the answer that a request succeeded.
func OK(value int64) Reply { return Reply{Value: value} }

// Failed is the answer that a request failed, or succeeded if err is 0.
func Failed(err syscall.Errno) Reply { return Reply{Err: err} }

// Path returns the names that must be found before a request can be sent.
func (o Op) Path(n *Names) []Text {
	switch parent := n.Parents[o.Name]; {
	case o.Kind == OpList || o.Kind == OpLook && parent == 0:
		return nil
	case o.Kind == OpWrite, o.Kind == OpTouchFile, o.Kind == OpStatFile:
		return nil
	case o.Kind == OpLink:
		return []Text{o.To}
	case o.Creates():
		return []Text{parent}
	case parent != 0 && n.Parents[parent] != 0:
		return []Text{parent, o.Name}
	}
	return []Text{o.Name}
}

// Millis returns a duration in milliseconds. It rounds up, so that a process that waits does wait,
// but not above what a state can hold.
func Millis(d time.Duration) int32 {
	return int32(min(d/time.Millisecond+min(d%time.Millisecond, 1), time.Duration(Forever)))
}

// Forever is the wait of a process that time does not wake.
const Forever = int32(1 << 30)

// Bit is 1 for true.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
