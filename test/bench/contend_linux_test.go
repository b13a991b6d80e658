package bench

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"locksmith/test/lab"
)

// again runs a command under a lock, again and again, as scripts/loop.sh says.
const again = `echo ready; read -r _; while [ ! -e "$0/stop" ]; do "$@" || exit; done`

// increment is not atomic, and leaves others time to come in between. Its arguments
// are the directory and the worker.
const increment = `read -r n <"$0/counter"; n=$((n+1)); echo $n >"$0/counter"; echo "$n $1" >>"$0/log"`

// commands measures contention by tools that run a command under the lock.
func (b *bench) commands(of []rival) {
	g := b.goalsOf(goals{dotlockfile.name: "≥ 5x", procmail.name: "≥ 5x", mkdirLoop.name: "local: ≥ 4x"},
		goals{flock.name: "local: ≥ 0.5x, flock: ≥ 0.65x, flock: -F ≥ 0.65x", etcdctl.name: "etcd: ≥ 1x"})
	b.contend(of, "each time a command", g, g, incrementing)
}

// incrementing is a worker that starts a command under the lock for each increment.
func incrementing(r rival, dir string) []string {
	return with(append([]string{"sh", "-c", again, dir}, r.run...), "sh", "-c", increment, dir)
}

// loops measures contention by processes that live on between one lock and the next, so that only
// the lock costs time; with package client, also a helper's start.
func (b *bench) loops(of []rival) {
	handOffs := goals{flufl.name: "≥ 5x", proper.name: "≥ 5x", perlNFSLock.name: "≥ 5x"}
	increments := maps.Clone(handOffs)
	increments[nfsBackend.name] = "≥ 300"
	b.contend(of, "in loops", handOffs, increments, func(r rival, dir string) []string { return with(r.loop, dir) })
}

// contend gives all rivals their turns, in each round and for each size of crowd. A rival that
// lost an update, or failed otherwise, has no rate worth telling. Ours must not fail. The
// workers' arguments lack their numbers.
func (b *bench) contend(of []rival, how string, handOffs, increments goals, worker func(r rival, dir string) []string) {
	for _, n := range b.crowds {
		excuses := maps.Clone(b.excuses)
		changes, all := samples{}, samples{}
		for range b.rounds {
			for _, r := range b.present(of) {
				a, err := b.race(r, n, worker)
				switch {
				case err != nil && r.scheme != "":
					b.Fatalf("%d processes with %s: %v", n, r.name, err)
				case errors.Is(err, errLostUpdate):
					b.excuses[r.name] = "lost updates"
				case err != nil:
					b.excuses[r.name] = "failed"
				}
				if err != nil {
					b.Logf("%d processes with %s: %v", n, r.name, err)
				}
				changes.add(r, float64(a.handOffs)/a.took.Seconds())
				all.add(r, float64(a.increments)/a.took.Seconds())
			}
		}
		b.medians(fmt.Sprintf("hand-offs a second, %d processes, %s", n, how), "%.0f", of, changes, handOffs)
		b.medians(fmt.Sprintf("increments a second, %d processes, %s", n, how), "%.0f", of, all, increments)
		b.excuses = excuses
	}
}

// race lets a crowd count for a while, and returns how far it came in that time. A process that
// is inside at the end goes on to its own end; one that sleeps is killed.
func (b *bench) race(r rival, n int, worker func(r rival, dir string) []string) (account, error) {
	lock := b.lock()
	l, err := newLedger(lock + "-ledger")
	if err != nil {
		return account{}, err
	}
	all := make([]*lab.Process, n)
	for i := range all {
		all[i] = b.start(b.fill(with(worker(r, string(l)), strconv.Itoa(i)), lock))
	}
	for _, p := range all {
		p.Expect("ready")
	}
	for _, p := range all {
		p.LetGo()
	}
	a, err := b.interim(l)
	patience := lab.Patience
	if r.sleeps {
		patience = 300 * time.Millisecond
	}
	var killed atomic.Bool
	defer time.AfterFunc(patience, func() {
		killed.Store(true)
		for _, p := range all {
			killGroup(p)
		}
	}).Stop()
	err = errors.Join(err, l.write("stop", ""))
	for _, p := range all {
		<-p.Ended()
		if state := p.Cmd.ProcessState; !state.Success() && !(r.sleeps && killed.Load()) {
			err = errors.Join(err, fmt.Errorf("%q: %v\n%s", p.Cmd.Args, state, p.Stderr()))
		}
	}
	if err != nil {
		return a, err
	}
	b.mustBeReleased(r, lock)
	return a, l.check(killed.Load())
}
