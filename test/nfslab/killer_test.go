//go:build linux

package nfslab

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"
)

// calm is how long a killer waits between two kills, at most. It is several
// leases: to break a dead holder somebody must live for one.
const calm = 10 * time.Second

// A killer tells what a contender does, and may kill it, its helper or both at
// any moment of that; the one must know of the other, or a contender would say
// that it had the lock when its helper was dead already.
type killer struct {
	mu     sync.Mutex
	helper *os.Process
	holds  bool
	struck bool // the current helper, or us
}

// rage kills with -9 at random moments until that hits us.
func (k *killer) rage(random *rand.Rand) {
	for {
		time.Sleep(time.Duration(random.Int64N(int64(calm))))
		for who := random.IntN(6); !k.killOne(who); {
			time.Sleep(time.Duration(random.Int64N(int64(calm / 20))))
		}
	}
}

// killOne kills both (0), us (1) or the helper (2 and more), if there is one.
func (k *killer) killOne(who int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.helper == nil || k.struck {
		return false
	}
	k.end()
	k.struck = true
	fmt.Println("kill", int64(now()), who)
	if who != 0 {
		_ = k.helper.Kill()
	}
	if who < 2 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return true
}

// begin is called for each new helper.
func (k *killer) begin(helper *os.Process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.helper, k.holds, k.struck = helper, false, false
}

// killed reports that the helper was killed, once it has ended.
func (k *killer) killed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.helper = nil
	return k.struck
}

func (k *killer) take(token uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.struck {
		k.holds = true
		fmt.Println("take", int64(now()), token)
	}
}

func (k *killer) give() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.end()
}

func (k *killer) end() {
	if k.holds {
		fmt.Println("give", int64(now()))
	}
	k.holds = false
}
