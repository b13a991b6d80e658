//go:build unix

package explore

import (
	"encoding/binary"
	"slices"

	"locksmith/test/explorer/actors"
	"locksmith/test/explorer/places"
	"locksmith/test/explorer/steps"
)

// A Budget is what the adversary may still do, and how often.
type Budget struct {
	Crashes int // crashes of processes
	Lost    int // lost requests or replies, late requests (delayed), and wrong replies after a server crash (crashedReply)
	Dups    int // requests that the server executes again, or late outside a session
	Torn    int // listings that others change while they are read
	Stale   int // answers from an outdated cache; -1: no limit
	Foreign int // answers "no such object" by something in front of the store
	Purges  int // names that are removed because they have not changed for long
	// Jumps of time, by their length in leases.
	Short, Half, Full int
}

// A request waits until the server executes it, once more or for the first time.
type request struct {
	op   steps.Op
	from int8
	aim  steps.Text // the file that had op's name when the request was sent (checkLate)
}

// A proc is a process as the world sees it.
type proc struct {
	node     actors.NodeID
	crashed  bool
	absent   bool          // the cleaner has not come: it comes only when all others have ended
	asksLate bool          // it asks for the time only after the next jump of time, or asks whether another lives only after that or the other's crash (readClocks)
	stopped  bool          // stopped for good while the others finish; not part of the state
	awake    bool          // something has changed since it last began to wait
	scan     steps.Listing // the first half of a listing whose second half it has yet to read; 0: there is none
	// sent is when the request of the present step was sent, if it can prove that the process's entry
	// exists (proves). touched is when the last request that did so was sent, or when the present Try
	// began (NoteTry). confirmed is what touched was at the last call that confirmed the hold. All
	// three are the earliest times that are possible, because a process may pause before it sends.
	sent, touched, confirmed int32

	// What the properties need to know.
	holding    bool  // from OK to the end of its release
	valid      bool  // the work that its lock guards may go on (see below)
	overtaken  bool  // somebody else got the lock since OK
	mustNotice bool  // its present call must not succeed: it was overtaken before the call began
	unreserved bool  // its present call must not succeed: the object that is its hold's reservation was gone before the call began
	releasing  bool  // it has begun to release
	unfinished bool  // when this Try began, the lock was a file without a record, whose maker had crashed
	swept      bool  // in this Try another process removed this one's entry from this one's reservation
	serial     uint8 // the attempt that gave it its hold
	hopeless   uint8 // its attempt that must get no hold, because it was condemned, and its entry was gone when the present Try began; 0: none
	condemned  uint8 // its attempt that was broken by the operator, or by a process that misjudges; 0: none
	token      uint32
	// valid ends when the process begins to release, is told that the lock is gone, or knows by its
	// own clock that its lease is over; and when it is condemned. Two holders that are both valid
	// are a violation, unless they share the lock.

	// saw is the file that was the lock when this process last looked, sawAt its modification time
	// then.
	saw   steps.Text
	sawAt int32
	// Its last attempt that made a file, or whose request for a reservation failed. No attempt after
	// that one may have its id (checkID).
	made uint8
	// The descriptor for which the kernel gave it the lock, until it learns of that; 0: none.
	given uint8
}

// A world is one state of everything.
type world struct {
	now     int32 // milliseconds since the beginning
	tree    places.Tree
	hosts   []places.Client // what the NFS client of each host has in its cache
	procs   []proc
	pending []request
	left    Budget
	// What the tries of all processes remember of others (watch.Memory): they are of one user, whose
	// home the hosts share.
	memory steps.Text
	// owner is the process that owns the lock directory in plain style, even while the directory is
	// empty. doubt: the owner may not know that it owns the directory.
	owner int8
	doubt bool
	// machine is for a lock that is a file of one machine: its files, who has them open or has their
	// kernel locks, and the kernel's queue.
	machine places.Machine
	// The highest tokens granted: to exclusive holders, and to any holder.
	exclusive, highest uint32

	// These are not part of the state. calm: nothing goes wrong any more, so no process falls silent
	// for long. action is how the world came about, wrong is what is wrong with it.
	calm   bool
	action action
	wrong  string
}

func (w *world) copyFrom(v *world) {
	tree, hosts, procs, pending, machine := w.tree[:0], w.hosts, w.procs[:0], w.pending[:0], w.machine
	*w = *v
	w.machine = machine
	w.machine.CopyFrom(&v.machine)
	w.tree = append(tree, v.tree...)
	w.procs = append(procs, v.procs...)
	w.pending = append(pending, v.pending...)
	w.hosts = slices.Grow(hosts[:0], len(v.hosts))[:len(v.hosts)]
	for i := range v.hosts {
		w.hosts[i].CopyFrom(&v.hosts[i])
	}
	w.action, w.wrong = action{}, ""
}

// encode writes the state so that equal states have equal bytes. The order of pending is part of the
// state.
func (w *world) encode(b []byte) []byte {
	u := func(v uint64) { b = binary.AppendUvarint(b, v) }
	u(uint64(w.now))
	u(uint64(w.exclusive))
	u(uint64(w.highest))
	u(uint64(w.memory))
	u(uint64(w.owner+1)<<1 | uint64(steps.Bit(w.doubt)))
	for _, n := range w.left.counts() {
		u(uint64(*n + 1))
	}
	b = w.tree.Encode(b)
	for _, p := range w.procs {
		b = p.encode(b)
	}
	for _, h := range w.hosts {
		b = h.Encode(b)
	}
	u(uint64(len(w.pending)))
	for _, d := range w.pending {
		u(uint64(d.op.Kind))
		u(uint64(d.op.Name))
		u(uint64(d.op.To))
		u(uint64(d.from))
		u(uint64(d.aim))
	}
	return w.machine.Encode(b)
}

func (p *proc) encode(b []byte) []byte {
	flags := 0
	for i, set := range []bool{p.crashed, p.absent, p.asksLate, p.awake, p.holding, p.valid, p.overtaken, p.mustNotice, p.unreserved, p.releasing, p.swept, p.unfinished} {
		flags |= steps.Bit(set) << i
	}
	for _, v := range []uint64{uint64(p.node), uint64(flags), uint64(p.scan), uint64(p.sent), uint64(p.touched), uint64(p.confirmed),
		uint64(p.serial), uint64(p.condemned), uint64(p.hopeless), uint64(p.token), uint64(p.saw), uint64(p.sawAt), uint64(p.made), uint64(p.given)} {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// decode reads what encode wrote. w must have the right numbers of processes and hosts.
func (w *world) decode(b []byte) {
	u := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	w.now, w.exclusive, w.highest, w.memory = int32(u()), uint32(u()), uint32(u()), steps.Text(u())
	owner := u()
	w.owner, w.doubt = int8(owner>>1)-1, owner&1 != 0
	for _, n := range w.left.counts() {
		*n = int(u()) - 1
	}
	w.tree.Decode(u)
	for i := range w.procs {
		p := &w.procs[i]
		node, flags := actors.NodeID(u()), u()
		*p = proc{node: node, scan: steps.Listing(u()), sent: int32(u()), touched: int32(u()), confirmed: int32(u()),
			serial: uint8(u()), condemned: uint8(u()), hopeless: uint8(u()), token: uint32(u()), saw: steps.Text(u()), sawAt: int32(u()), made: uint8(u()), given: uint8(u())}
		for i, f := range []*bool{&p.crashed, &p.absent, &p.asksLate, &p.awake, &p.holding, &p.valid, &p.overtaken, &p.mustNotice, &p.unreserved, &p.releasing, &p.swept, &p.unfinished} {
			*f = flags>>i&1 != 0
		}
	}
	for i := range w.hosts {
		w.hosts[i].Decode(u)
	}
	w.pending = w.pending[:0]
	for range u() {
		w.pending = append(w.pending, request{steps.Op{Kind: steps.OpKind(u()), Name: steps.Text(u()), To: steps.Text(u())}, int8(u()), steps.Text(u())})
	}
	w.machine.Decode(u)
}

// counts are the numbers of a budget, in the order in which encode writes them.
func (b *Budget) counts() []*int {
	return []*int{&b.Crashes, &b.Lost, &b.Dups, &b.Torn, &b.Stale, &b.Foreign, &b.Purges, &b.Short, &b.Half, &b.Full}
}
