//go:build unix

package soak

import (
	"math/rand/v2"
	"time"

	"locksmith/locksmith"
)

// A visit is what one helper does.
type visit struct {
	at      time.Duration // since the beginning of the hour
	host    string
	mode    string
	lease   time.Duration
	timeout time.Duration // as a Helper's Timeout
	hold    time.Duration // for so long
	end     end
}

// An end is how a helper ends that gets the lock, or that is to crash before.
type end int

const (
	releases       end = iota
	crashes            // after half of the time
	crashesWaiting     // when it has waited once
	cutOff             // is cut off from the lock's place after half of the time, for ever
)

// The hosts. On one nobody knows who is dead on the other.
const (
	near = "near"
	far  = "far"
)

var leases = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 20 * time.Second, time.Minute, 5 * time.Minute, 20 * time.Minute, time.Hour}

const exclusive = "exclusive"

// busyHour returns the visits of one hour, the same for each hour. Visitors whose death nobody
// can prove have a short lease, so that the next ones need not wait for too long: a set waits for
// the lease of each of its locks. The last visitors are on the near host, where the deaths of all
// others with a long lease are known.
func busyHour(k kind) (all []visit) {
	random := rand.New(rand.NewPCG(1, 2))
	const together = 3
	for i := range 45 / k.locks {
		v := visit{at: time.Duration(i/together*k.locks) * 3 * time.Minute, host: near, mode: exclusive, lease: leases[i%len(leases)],
			timeout: locksmith.Forever, hold: time.Duration(random.Int64N(int64(40 * time.Second)))}
		if k.shared && random.IntN(3) == 0 {
			v.mode = "shared"
		}
		switch random.IntN(10) {
		case 0, 1:
			v.timeout = 10 * time.Second
		case 2:
			v.end = crashes
		case 3:
			v.end = crashesWaiting
		case 4:
			v.end, v.host, v.lease = crashes, far, min(v.lease, 20*time.Second)
		case 5:
			v.end, v.host, v.lease = crashesWaiting, far, min(v.lease, 20*time.Second)
		case 6:
			v.end, v.host, v.lease = cutOff, far, min(v.lease, 20*time.Second)
		}
		all = append(all, v)
	}
	for i := range 3 {
		all = append(all, visit{at: time.Duration(48+3*i) * time.Minute, host: near, mode: exclusive, lease: time.Minute, timeout: locksmith.Forever})
	}
	return all
}

// silentHour has a holder that crashes unseen with a long lease, and a waiter that waits for that
// lease to be over.
func silentHour(k kind) []visit {
	long := 20 * time.Minute / time.Duration(k.locks)
	return []visit{
		{host: far, mode: exclusive, lease: long, timeout: locksmith.Forever, end: crashes},
		{at: time.Minute, host: near, mode: exclusive, lease: long, timeout: locksmith.Forever, hold: time.Minute},
	}
}

// keptHour has visits that come in vain, because the lock is held for all the hours.
func keptHour() (all []visit) {
	for i := range 90 {
		v := visit{at: time.Duration(i) * 36 * time.Second, host: near, mode: exclusive, lease: leases[i%4], timeout: 5 * time.Second}
		switch i % 3 {
		case 1:
			v.end = crashesWaiting
		case 2:
			v.end, v.host = crashesWaiting, far
		}
		all = append(all, v)
	}
	return all
}
