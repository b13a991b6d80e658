//go:build unix

package explore

import (
	"fmt"
	"time"

	"locksmith/test/explorer/actors"
	"locksmith/test/explorer/places"
	"locksmith/test/explorer/steps"
)

// A Config is one small world to explore.
type Config struct {
	Name      string
	Roles     []actors.Role
	Lease     time.Duration
	Adversary Budget
	// Tick makes caches as bad as those of NFSv3 within one tick of the server's clock. Nothing
	// refreshes a name. A listing may be an old one, unless this host has changed the directory
	// since.
	Tick bool
	// Jumps are how far time jumps, in hundredths of the lease; zero: as usual.
	Jumps [3]int32
	// PurgeAge is for how long a name has not changed at least that is purged.
	PurgeAge time.Duration
	// Prelude says who comes first: each of these processes in turn goes on until it holds the
	// lock or waits for it. The search begins after that.
	Prelude []int
	// Late says who comes before Prelude: each of these goes on until it is about to create a
	// generation, and stops.
	Late []int
	// Copied: the network keeps copies of the reservations and generations that the first process
	// of Prelude writes during the prelude, as long as the budget lasts.
	Copied bool
	// After the prelude, each process of Fallen crashes. Then each of Dying goes on until it is
	// about to remove the lock, which is a file, and crashes. Each of Stopped goes on that far,
	// and stops.
	Fallen, Dying, Stopped []int
	// Prompt: no process is paused just before it looks at its clock. That makes the number of
	// states far smaller.
	Prompt bool
	// Directories is set if the lock is made only of directories.
	Directories *Directories
	// Files is set if the lock is a file.
	Files *Files
	// Objects is set if the lock is made of objects in a store.
	Objects *Objects
	// Kernel is set if the lock is a file of one machine.
	Kernel *Kernel
	// Limit is a part of the text of violations that are known limits. What follows from such a
	// violation is not explored. Meets are the violations that must be met.
	Limit string
	Meets []string
	// NoTokens: the locks have no tokens.
	NoTokens bool
	// States limits the search, and Walks the walks; 0 leaves it to the caller.
	States, Walks int
}

// An Explorer explores one Config. One goroutine may use it.
type Explorer struct {
	Config Config
	names  *steps.Names
	roles  []actors.Role // the last is that of the cleaner
	graphs []*actors.Graph
	spare  []*world
	lock   steps.Text // of Directories or Files
	// opening is what happened in the prelude.
	opening []string
	Steps   uint64 // how many worlds were made
}

// NewExplorer prepares to explore c. The cleaner has the system of the first role.
func NewExplorer(c Config) *Explorer {
	x := &Explorer{Config: c, names: steps.NewNames()}
	for _, dir := range c.places() {
		x.names.Of(dir)
	}
	if c.Directories != nil {
		x.lock = x.names.Of(c.Directories.Lock)
	}
	if c.Files != nil {
		x.lock = x.names.Of(c.Files.Lock)
	}
	cleaner := actors.Role{System: c.Roles[0].System, Host: actors.Host{Number: len(x.hostNumbers(c))}, Rounds: 1, Cleaner: true}
	x.roles = append(append(x.roles, c.Roles...), cleaner)
	for i := range x.roles {
		x.roles[i].Lease = c.Lease
		x.roles[i].Nap, x.roles[i].Naps = c.nap(), c.naps()
		x.roles[i].Keeps = c.Kernel != nil
		x.graphs = append(x.graphs, actors.NewGraph(x.names, i, x.roles[i]))
	}
	return x
}

// nap is how long the cleaner rests between two looks. All rests together are longer than
// leftovers are let be.
func (c Config) nap() time.Duration {
	if c.Files != nil {
		return 10 * time.Minute
	}
	return c.Lease / 4
}

// naps is how often the cleaner rests. A lock of objects looks for leftovers only now and then.
func (c Config) naps() int {
	if c.Objects != nil {
		return 18
	}
	return 12
}

// places are the directories that exist from the beginning.
func (c Config) places() []string {
	if c.Directories != nil || c.Files != nil || c.Objects != nil || c.Kernel != nil {
		return nil
	}
	return []string{"G", "R"}
}

func (x *Explorer) hostNumbers(c Config) []actors.Host {
	var hosts []actors.Host
	for _, r := range c.Roles {
		for len(hosts) <= r.Host.Number {
			hosts = append(hosts, actors.Host{})
		}
		hosts[r.Host.Number] = r.Host
	}
	return hosts
}

// Close ends all processes.
func (x *Explorer) Close() {
	for _, g := range x.graphs {
		g.Close()
	}
}

func (x *Explorer) title(p int) string {
	switch {
	case p == len(x.roles)-1:
		return "the cleaner"
	case x.roles[p].Operator:
		return "the operator"
	}
	return fmt.Sprintf("P%d", p+1)
}

// start returns the world before anything has happened.
func (x *Explorer) start() *world {
	w := &world{left: x.Config.Adversary, owner: nobody, hosts: make([]places.Client, len(x.hostNumbers(x.Config))+1)}
	for _, dir := range x.Config.places() {
		w.tree.Create(x.names, places.Entry{Name: x.names.Of(dir)})
	}
	w.procs = make([]proc, len(x.roles))
	w.procs[len(x.roles)-1].absent = true
	var started *world
	// A process that sleeps over a jump before its first step might as well come later, so only
	// the last world counts.
	x.readClocks(w, func(c *world) { started = x.copy(c) })
	x.opening = nil
	for _, p := range x.Config.Late {
		started = x.goOnTo(started, p, func(o steps.Op) bool { return o.Kind == steps.OpPutNew })
	}
	for _, p := range x.Config.Prelude {
		started = x.goOn(started, p)
	}
	for _, p := range x.Config.Fallen {
		x.fall(started, p)
	}
	removal := func(o steps.Op) bool { return o.Kind == steps.OpUnlink && o.Name == x.lock }
	for _, p := range x.Config.Dying {
		started = x.goOnTo(started, p, removal)
		x.fall(started, p)
	}
	for _, p := range x.Config.Stopped {
		started = x.goOnTo(started, p, removal)
	}
	return started
}

func (x *Explorer) fall(w *world, p int) {
	x.kill(w, p)
	x.opening = append(x.opening, x.title(p)+" crashes")
}

// goOn lets process p take steps until it holds the lock or waits for it.
func (x *Explorer) goOn(w *world, p int) *world {
	return x.goOnTo(w, p, func(o steps.Op) bool { return o.Kind <= steps.OpAwait || o.Kind == steps.OpRest })
}

// goOnTo lets process p take steps until its next one is the wanted one.
func (x *Explorer) goOnTo(w *world, p int, there func(steps.Op) bool) *world {
	for {
		var next *world
		x.step(w, p, func(c *world) {
			// Take the last world, in which p does not stop to look at a clock.
			if f := c.action.fault; f == noFault || f == duplicated && x.Config.Copied && p == x.Config.Prelude[0] && x.isTaking(c.action.op) {
				next = x.copy(c)
				next.action = c.action
			}
		})
		x.opening = append(x.opening, x.describe(w, next))
		w = next
		if there(x.op(w, p)) {
			return w
		}
	}
}

// caches reports whether what hosts believe can matter in this configuration.
func (x *Explorer) caches() bool { return x.Config.Adversary.Stale != 0 }

func (x *Explorer) copy(w *world) *world {
	c := &world{}
	if n := len(x.spare); n > 0 {
		c, x.spare = x.spare[n-1], x.spare[:n-1]
	}
	c.copyFrom(w)
	return c
}

// drop takes back a world that nobody needs any more.
func (x *Explorer) drop(c *world) { x.spare = append(x.spare, c) }

// A choice is one thing that can happen in a world: who does it, and which of several outcomes it
// has.
type choice struct {
	kind    actionKind
	subject uint8 // a process, a kind of jump, or a repeated request
	variant uint16
}

func (a choice) pack() uint32 { return uint32(a.kind)<<24 | uint32(a.subject)<<16 | uint32(a.variant) }

func unpackChoice(v uint32) choice {
	return choice{actionKind(v >> 24), uint8(v >> 16), uint16(v)}
}

// act emits all worlds that a can lead to, whatever its variant.
func (x *Explorer) act(w *world, a choice, emit func(*world)) {
	switch a.kind {
	case stepped:
		x.step(w, int(a.subject), emit)
	case jumped:
		x.jump(w, int(a.subject), emit)
	case crashed:
		x.crash(w, int(a.subject), emit)
	case repeated:
		if int(a.subject) < len(w.pending) {
			x.repeat(w, int(a.subject), emit)
		}
	case purged:
		x.purge(w, int(a.subject), emit)
	case gave:
		x.give(w, int(a.subject), emit)
	}
}

// choices returns everything that may be possible in w.
func (x *Explorer) choices(w *world) []choice {
	var all []choice
	for p := range w.procs {
		if x.enabled(w, p) {
			all = append(all, choice{kind: stepped, subject: uint8(p)})
		}
	}
	for p := range w.procs {
		if w.left.Crashes > 0 && !w.procs[p].crashed {
			all = append(all, choice{kind: crashed, subject: uint8(p)})
		}
	}
	for i := range x.jumps() {
		if *w.left.jump(i) > 0 {
			all = append(all, choice{kind: jumped, subject: uint8(i)})
		}
	}
	for i := range w.pending {
		all = append(all, choice{kind: repeated, subject: uint8(i)})
	}
	for i := range w.tree {
		if x.aged(w, &w.tree[i]) {
			all = append(all, choice{kind: purged, subject: uint8(i)})
		}
	}
	for i := range w.machine.Asleep {
		if w.machine.Next(i) {
			all = append(all, choice{kind: gave, subject: uint8(i)})
		}
	}
	return all
}

// successors emits every world that can follow w.
func (x *Explorer) successors(w *world, emit func(choice, *world)) {
	for _, a := range x.choices(w) {
		x.act(w, a, func(c *world) {
			x.Steps++
			emit(a, c)
			a.variant++
		})
	}
}

// redo returns the world that follows w by the choice a, or nil if there is none.
func (x *Explorer) redo(w *world, a choice) *world {
	var found *world
	variant := uint16(0)
	x.act(w, a, func(c *world) {
		if variant == a.variant {
			found = x.copy(c)
			found.action, found.wrong = c.action, c.wrong
		}
		variant++
	})
	return found
}
