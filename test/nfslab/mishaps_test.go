//go:build linux

package nfslab

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/guest"
	"locksmith/test/lab/mishaps"
)

// A mishap is how a row of the table is provoked here, and what its victim does.
type mishap struct {
	mishaps.Mishap
	few      string // a regexp of the cells in which it is tried when not all are; "": none
	alone    bool   // it happens to all hosts
	stops    bool   // the victim stays stopped, and so cannot tell before the rival has the lock
	survives bool
	patient  bool          // who only waits survives it
	lease    time.Duration // 0: the usual one
	prepare  func(*crash)
	inject   func(*crash)
	heal     func(*crash) // what takes it back; of who does not survive while the rival has the lock
	late     string       // when the lock is free, counted from when the mishap was over; "": at once, or after the lease
}

const (
	crashLease = 8 * time.Second
	aloneLease = 6 * time.Second  // with less going on meanwhile
	longLease  = 20 * time.Second // of who does not lose the lock
	// blink is how long is away what comes back in time. It needs more than that to get
	// going: requests are repeated ever more seldom.
	blink       = time.Second
	rebootLease = 20 * time.Second
	outageLease = 4 * time.Second // of what comes too late
)

// span is the victim's lease.
func (m mishap) span() time.Duration {
	if m.alone {
		return cmp.Or(m.lease, aloneLease)
	}
	return cmp.Or(m.lease, crashLease)
}

// provoked are all.
var provoked = []mishap{
	{Mishap: mishaps.ParentKilled, lease: longLease,
		inject: func(c *crash) { kill(c.parent) }},
	{Mishap: mishaps.ParentStopped, survives: true,
		inject: func(c *crash) { stop(c.parent) },
		heal: func(c *crash) {
			resume(c.victim.PID()) // nsenter stops when its child does
			resume(c.parent)
		}},
	{Mishap: mishaps.BothKilled, few: `v3`,
		inject: func(c *crash) { kill(c.helper, c.parent) }},
	{Mishap: mishaps.HelperKilled,
		inject: func(c *crash) { kill(c.helper) }},
	{Mishap: mishaps.OutOfMemory, alone: true,
		inject: (*crash).starve},
	{Mishap: mishaps.BrieflyStopped, survives: true, few: `v3`, lease: crashLease * 3 / 2,
		inject: func(c *crash) {
			stop(c.helper)
			time.Sleep(c.span() / 8)
		}},
	{Mishap: mishaps.LongStopped, stops: true, few: `v4`,
		inject: func(c *crash) { stop(c.helper) },
		heal:   func(c *crash) { resume(c.helper) }},
	{Mishap: mishaps.RunKilled,
		inject: func(c *crash) { kill(c.helper) }},
	{Mishap: mishaps.CommandKilled, lease: longLease,
		inject: func(c *crash) { kill(guest.Children(c.helper)...) }},
	{Mishap: mishaps.CommandStopped, survives: true,
		inject: func(c *crash) {
			for _, pid := range guest.Children(c.helper) {
				stop(pid)
			}
		},
		heal: func(c *crash) {
			for _, pid := range guest.Children(c.helper) {
				resume(pid)
			}
		}},

	{Mishap: mishaps.Cut, few: `v4`,
		inject: func(c *crash) { c.link("down") },
		heal:   func(c *crash) { c.link("up") }},
	{Mishap: mishaps.RequestsCut,
		inject: (*crash).loseRequests,
		heal:   func(c *crash) { script(c.t, c.host, "tc qdisc del dev eth0 root") }},
	{Mishap: mishaps.AnswersCut,
		inject: func(c *crash) { c.answers(false) },
		heal:   func(c *crash) { c.answers(true) }},
	{Mishap: mishaps.AnswersLost, survives: true, lease: rebootLease,
		inject: func(c *crash) {
			c.answers(false)
			c.unlag()
			resume(c.helper)
			time.Sleep(blink)
			c.answers(true)
		}},
	{Mishap: mishaps.ServerBack, alone: true, survives: true, late: mishaps.AfterReturn, lease: rebootLease,
		inject: func(c *crash) { c.reboot(blink) }},
	{Mishap: mishaps.ServerBackLate, alone: true, patient: true, late: mishaps.AfterReturn, lease: outageLease,
		inject: func(c *crash) { c.reboot(outageLease * 5 / 4) }},

	{Mishap: mishaps.DiskFull, alone: true, survives: true,
		prepare: (*crash).fillMost,
		inject:  func(c *crash) { fillDisk(c.t, "rest", 0, 0) },
		heal:    func(c *crash) { freeDisk(c.t) }},
	{Mishap: mishaps.ClocksAhead, alone: true, survives: true,
		inject: func(c *crash) { c.stepForNow(time.Hour) }},
	{Mishap: mishaps.ClocksBack, alone: true, survives: true,
		inject: func(c *crash) { c.stepForNow(-time.Hour) }},
	{Mishap: mishaps.KilledAhead, alone: true,
		inject: func(c *crash) {
			kill(c.helper, c.parent)
			c.stepForNow(time.Hour)
		}},
	{Mishap: mishaps.KilledBack, alone: true,
		inject: func(c *crash) {
			kill(c.helper, c.parent)
			c.stepForNow(-time.Hour)
		}},
	{Mishap: mishaps.Suspended, alone: true, survives: true,
		inject: func(c *crash) { c.suspend(c.span() / 3) }},
	{Mishap: mishaps.LongSuspended, alone: true, patient: true, stops: true, late: mishaps.AfterWaking,
		inject: func(c *crash) {
			resume(c.helper)
			c.suspend(c.span() * 5 / 4)
			c.happened = time.Now()
		}},
}

// TestCover: all that may happen to a lock happens here, but for this.
func TestCover(t *testing.T) {
	var all []mishaps.Mishap
	for _, m := range provoked {
		all = append(all, m.Mishap)
	}
	const set = "here clocks are really set"
	mishaps.Cover(t, all, map[string]string{
		mishaps.FilesAhead.What: set, mishaps.FilesBack.What: set,
		mishaps.KilledElsewhen.What: "on another host no process proves anything, whatever its clock",
	})
}

func kill(pids ...int) {
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
	}
}

// starve has the kernel choose somebody to kill for want of memory: the victim, as it is told.
func (c *crash) starve() {
	c.t.Helper()
	mustWork(c.t, os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", c.helper), []byte("1000"), 0))
	mustWork(c.t, os.WriteFile("/proc/sysrq-trigger", []byte("f"), 0))
}

func (c *crash) link(state string) { do(c.t, "hostnet", fmt.Sprint(c.host), state) }

// answers lets pass or drops what the server says to the victim's host, but not what it
// hears.
func (c *crash) answers(pass bool) {
	dev := fmt.Sprintf("v%d", c.host)
	if pass {
		do(c.t, "tc", "qdisc", "del", "dev", dev, "root")
		return
	}
	do(c.t, "tc", "qdisc", "replace", "dev", dev, "root", "netem", "loss", "100%")
}

// loseRequests drops what the victim's host says to the server, what is held back as well.
func (c *crash) loseRequests() {
	c.lagging = false
	script(c.t, c.host, "tc qdisc del dev eth0 root 2>/dev/null || :; tc qdisc add dev eth0 root netem loss 100%")
}

// reboot has the server crash, and stay away for a while. What the victim has under way
// does not reach it before.
func (c *crash) reboot(away time.Duration) {
	c.loseRequests()
	resume(c.helper)
	do(c.t, "nfsd", "crash")
	script(c.t, c.host, "tc qdisc del dev eth0 root")
	time.Sleep(away)
	do(c.t, "nfsd", "grace")
	c.happened = time.Now()
}

// stepForNow sets the clock, until the cell is over.
func (c *crash) stepForNow(by time.Duration) {
	step(c.t, by)
	c.t.Cleanup(func() { step(c.t, -by) })
}

// suspend suspends the whole guest.
func (c *crash) suspend(d time.Duration) { do(c.t, "suspend", fmt.Sprintf("%.1f", d.Seconds())) }

const filler = export + "/filler"

// fillMost leaves the disk a little room, which takes long.
func (c *crash) fillMost() {
	freeDisk(c.t) // from a try before
	mustWork(c.t, os.Mkdir(filler, 0o755))
	c.t.Cleanup(func() { freeDisk(c.t) })
	fillDisk(c.t, "most", 64, 1<<20)
}

// fillDisk leaves room for no more than so many names and bytes.
func fillDisk(t *testing.T, name string, names int, bytes int64) {
	t.Helper()
	mustWork(t, guest.FillDisk(filepath.Join(filler, name), names, bytes))
}

func freeDisk(t *testing.T) { mustWork(t, os.RemoveAll(filler)) }
