package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"locksmith/test/ftpserver"
)

// spawn measures taking a free lock, running true(1) and releasing the lock.
func (b *bench) spawn(of []rival) {
	times, locks := samples{}, b.lock()
	for i := range b.rounds * b.spawns {
		for j, r := range b.present(of) {
			if r.slow && i >= max(1, b.rounds*b.spawns/10) {
				continue
			}
			lock := fmt.Sprintf("%s-%d", locks, j)
			took, _ := b.once(b.fill(with(r.run, "true"), lock))
			times.add(r, ms(took))
			b.mustBeReleased(r, lock)
		}
	}
	b.medians("ms to take, run true, release", "%.2f", of, times, b.goalsOf(goals{floor.name: "local: ≤ 1.25x, nfs: ≤ 1.5x"}, goals{floor.name: "local: ≤ 1.75x, flock: ≤ 1.3x, flock: -F ≤ 1.3x", etcdctl.name: "etcd: ≤ 1x"}))
}

// latency measures the time from a release to the OK of the process that waits. All wait for
// their locks at the same time, and get them one after the other, in any order: a process that
// follows another soon finds the processor awake.
func (b *bench) latency(of []rival) {
	times := samples{}
	for range b.rounds * b.handOffs {
		queues := b.asleep(b.present(of), 1)
		for _, i := range rand.Perm(len(queues)) {
			ms, _ := queues[i].drain()
			times.add(queues[i].rival, ms...)
		}
	}
	b.medians("ms from release to the next OK, p50", "%.2f", of, times, goals{local.name: "≤ 1"})
	b.show("ms from release to the next OK, p99", "%.2f", of, times.percentile(99), nil)
}

// idle measures what processes do that wait for a lock and should sleep. The lease of
// its holder is long enough to live through the measurement, and so short that
// heartbeats fall into it.
func (b *bench) idle(of []rival) {
	points := b.level(of, b.waiters, b.settle, b.watch)
	all := fmt.Sprintf("a second of %d waiters together", b.waiters)
	b.show("context switches "+all, "%.1f", of, func(r rival) float64 { return points[r.name].switches }, goals{local.name: "≤ 0", flockStays.name: "≤ 0"})
	b.show("ms of processor time "+all, "%.2f", of, func(r rival) float64 { return points[r.name].busy }, nil)
}

// polls counts the commands of waiters to an FTP server, where nothing wakes them, once all of
// them ask slowly.
func (b *bench) polls(of []rival) {
	server := ftpserver.Start(b.TB, "embedded", ftpserver.Options{})
	b.Setenv("LOCKSMITH_PASSWORD", server.Password)
	proxy := ftpserver.StartProxy(b.TB, server.Addr)
	b.paths = append(b.paths, "{ftp}", proxy.Addr)
	b.enqueue(of[0], b.waiters)
	time.Sleep(b.retire)
	proxy.Reset()
	time.Sleep(b.watch)
	rate := float64(len(proxy.Commands())) / b.watch.Seconds()
	b.show(fmt.Sprintf("commands a second to the server of %d waiters together, after %v", b.waiters, b.retire), "%.1f",
		of, func(rival) float64 { return rate }, nil)
}

// memory measures processes that hold a lock each. What they share, such as the
// program's text, is divided among them. Of flock(1) its command is not counted.
func (b *bench) memory(of []rival) {
	for _, n := range b.helpers {
		largest := samples{}
		for _, r := range b.present(of) {
			var all []*queue
			for range n {
				all = append(all, b.enqueue(r, 0))
			}
			time.Sleep(b.settle)
			var sizes []float64
			for _, q := range all {
				size, err := pss(q.holder.PID())
				if err != nil {
					b.Fatal(err)
				}
				sizes = append(sizes, size)
			}
			for _, q := range all {
				q.drain()
			}
			largest.add(r, slices.Max(sizes))
		}
		var g goals
		if n == 10 {
			g = goals{local.name: "≤ 1.6", nfs.name: "≤ 1.6", localSingle.name: "≤ 1.6", nfsSingle.name: "≤ 1.6", alone.name: "flock: -F ≤ 1.05x"}
		}
		b.medians(fmt.Sprintf("MiB (PSS) of the largest of %d idle processes that hold a lock", n), "%.2f", of, largest, g)
	}
}
