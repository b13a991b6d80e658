package explore

import (
	"time"

	"golang.org/x/sys/unix"
)

// An opKind says what a process asks of the world.
type opKind uint8

const (
	opDone  opKind = iota // it has ended
	opWork                // it works on something of its own, for as long as the adversary likes
	opAwait               // it waits for a change
	// Questions whose answer no step of another process can change.
	opNow
	opToday
	opJudge
	// Calls to the file server.
	opMkdir
	opSymlink
	opRename
	opRenameNew // to a name that does not exist
	opRmdir
	opRemoveAbandoned // remove a directory that is empty, marked, and has no pin
	opUnlink
	opCreate // makes an empty file
	opWrite  // writes its content
	opLink
	opTouchFile
	opPut    // writes an object, whether it exists or not
	opPutNew // writes an object that does not exist yet
	opDelete
	opTouch
	opReadlink
	opLook
	opList
	opStat
	opRead
	opOpen
	opStatFile // of an open file
	opHead
	opGet
	// Calls to the kernel, about a directory.
	opStake
	opPin
	opUnpin
	// What tries remember (watch.Memory).
	opRecall
	opRemember
	// Calls to the kernel of one machine, about the lock file.
	opMake
	opOpenLock
	opByHand
	opSize
	opText
	opFill
	opStamp
	opFlock
	opNamed
	opRemove
	opShut
	opSit
	opQueue
	opRest // sleep until the kernel lock is given
)

// patient reports whether doing it twice is as good as once. That holds for making a file,
// because the server recognizes the repeated request.
func (o op) patient() bool {
	return o.kind == opTouch || o.kind == opTouchFile || o.kind == opWrite || o.kind == opCreate
}

// An op is the next step of a process.
type op struct {
	kind opKind
	name text
	to   text // the new name of a rename; the content of a symbolic link, a file, an object or the memory; the target of a link
	// wait is how many milliseconds a process that awaits or works may pass.
	wait    int32
	subject int8 // whom a judge looks at; the descriptor that a call to the kernel is about
}

func (o op) changes() bool { return o.kind >= opMkdir && o.kind <= opTouch }
func (o op) creates() bool {
	return o.kind == opMkdir || o.kind == opSymlink || o.kind == opCreate || o.kind == opLink || o.kind == opPutNew
}
func (o op) renames() bool { return o.kind == opRename || o.kind == opRenameNew }
func (o op) removes() bool { return o.kind == opRmdir || o.kind == opUnlink || o.kind == opDelete }

// A reply is the answer to an op.
type reply struct {
	err unix.Errno
	// value is a time in milliseconds, a text, a listing, a sight, a view or a verdict.
	value int64
	// given: since the last answer the kernel has given the process its lock on a file.
	given bool
}

// afterServerCrash is the answer to a request that was executed before the server crashed, and
// that the client repeated afterwards. The server no longer knows that both are the same.
func (o op) afterServerCrash() unix.Errno {
	if o.creates() {
		return unix.EEXIST
	}
	return unix.ENOENT
}

// A sight is what a look at a directory shows.
type sight struct {
	stamp int32
	links int32
}

func (s sight) pack() int64       { return int64(s.stamp)<<16 | int64(s.links) }
func unpackSight(v int64) sight   { return sight{stamp: int32(v >> 16), links: int32(v & 0xffff)} }
func ok(value int64) reply        { return reply{value: value} }
func failed(err unix.Errno) reply { return reply{err: err} }

// path returns the names that must be found before a request can be sent.
func (o op) path(n *names) []text {
	switch parent := n.parents[o.name]; {
	case o.kind == opList || o.kind == opLook && parent == 0:
		return nil
	case o.kind == opWrite, o.kind == opTouchFile, o.kind == opStatFile:
		return nil
	case o.kind == opLink:
		return []text{o.to}
	case o.creates():
		return []text{parent}
	case parent != 0 && n.parents[parent] != 0:
		return []text{parent, o.name}
	}
	return []text{o.name}
}

// millis rounds up, so that a process that waits does wait, but not above what a state can hold.
func millis(d time.Duration) int32 {
	return int32(min(d/time.Millisecond+min(d%time.Millisecond, 1), time.Duration(forever)))
}

// forever is the wait of a process that time does not wake.
const forever = int32(1 << 30)

// b2i is 1 for true.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
