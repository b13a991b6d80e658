//go:build linux

package storages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/guest"
	"locksmith/test/lab/holds"
)

const (
	mount = "/mnt/store" // on every host
	// lease is short, for it must run out often. If the machine is too slow for it, the recorder is
	// too slow as well, and then blames nobody (standstill).
	lease = 8 * time.Second
	// fewLosses, and one in fifty holds, are a busy machine's fault.
	fewLosses = 5
	// cutHost is the host that is cut off.
	cutHost = 3
)

// A contest is one lock, for which contenders on all hosts compete. The recorder's mutex guards
// what is counted.
type contest struct {
	kind       kind
	dir        string // on the hosts, for this lock alone
	home       string // its contenders' profiles
	contenders []*contender
	refusals   []string // why hosts cannot use the lock at all
	verdicts   []verdict

	history  holds.History
	holds    int
	byHost   [hosts + 1]int // holds
	kills    int
	losses   []string // that nothing explains
	reaps    int      // of directories whose maker was killed
	operator string   // what the operator was told last
	linger   bool     // a contender that takes the lock on the host that will be cut off keeps it until it is lost
	captive  *life    // the life that keeps it so
	failures []string
	rests    bool // the other contests need the processor
	over     bool
}

// A contender always has a parent running: one life after the other.
type contender struct {
	contest *contest
	host    int
	name    string
}

func (c *contest) address() string { return c.kind.scheme + c.dir + "/L" + c.kind.style }

// locksmith runs the program on a host.
func (c *contest) locksmith(host int, args ...string) (status int, said string) {
	cmd := guest.On(host, append([]string{"timeout", "-k", "5", "240", "locksmith"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		return -1, err.Error()
	}
	return cmd.ProcessState.ExitCode(), strings.TrimSpace(string(out))
}

// contests prepares a contest for each kind of lock.
func (r *recorder) contests(t *testing.T, s storage) (all []*contest) {
	t.Helper()
	on := []int{1, 2, 3, 1}
	if s.local {
		on = []int{1, 1, 1}
	}
	for i, k := range kinds {
		if !regexp.MustCompile(os.Getenv("LAB_KINDS")).MatchString(k.String()) {
			continue
		}
		c := &contest{kind: k, dir: fmt.Sprintf("%s/locks/%d", mount, i), home: filepath.Join(t.TempDir(), "home")}
		if out, err := guest.On(1, "mkdir", "-p", c.dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		config := filepath.Join(c.home, "locksmith")
		text := fmt.Sprintf("[lock]\nlock = %q\nlease = %q\npoll = \"100ms..400ms\"\nslow = \"100ms..400ms\"\n", c.address(), lease)
		if err := os.MkdirAll(config, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(config, "profiles.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for n, host := range on {
			c.contenders = append(c.contenders, &contender{c, host, fmt.Sprintf("%s %d on host %d", k, n, host)})
		}
		all = append(all, c)
	}
	return all
}

// hosts returns the hosts that have the storage.
func (c *contest) hosts() map[int]bool {
	all := map[int]bool{}
	for _, k := range c.contenders {
		all[k.host] = true
	}
	return all
}

func (k *contender) command(r *recorder, name string) *exec.Cmd {
	cmd := guest.On(k.host, "parent", r.socket, name, "lock")
	cmd.Env = append(os.Environ(), "HOME="+k.contest.home, "XDG_CONFIG_HOME="+k.contest.home, "LOCKSMITH=/mnt/lab/bin/locksmith")
	cmd.Stderr = r.stderr
	return cmd
}

// live keeps a contender alive: whenever its parent ends it starts another, until the test is
// over.
func (k *contender) live(r *recorder) {
	for n := 0; ; n++ {
		l := &life{contender: k, name: fmt.Sprintf("%s, life %d", k.name, n)}
		cmd := k.command(r, l.name)
		if !r.expect(l, cmd) {
			return
		}
		_ = cmd.Wait() // we kill it
		r.gone(l)
	}
}

// A verdict is doctor's, on a host.
type verdict struct {
	host int
	fit  bool
	said string
}

// try finds out whether the lock can be had on each host at all.
func (c *contest) try() {
	for host := range c.hosts() {
		status, said := c.locksmith(host, "run", "--timeout", "2m", c.address(), "--", "true")
		switch {
		case status == 0:
			continue
		case brief(said) == "":
			c.fail("stuck: on host " + strconv.Itoa(host) + " it cannot be had at all: " + said)
		default:
			c.refusals = append(c.refusals, said)
			c.over = true
		}
		return
	}
}

// examine tries all locks, and asks doctor on each host.
func (r *recorder) examine(t *testing.T, all []*contest) {
	t.Helper()
	began := time.Now()
	var work sync.WaitGroup
	for _, c := range all {
		work.Go(func() {
			c.try()
			for host := range c.hosts() {
				work.Go(func() {
					v := c.doctor(t, host)
					r.mu.Lock()
					defer r.mu.Unlock()
					c.verdicts = append(c.verdicts, v)
				})
			}
		})
	}
	work.Wait()
	t.Logf("doctor: %v", time.Since(began).Round(time.Second))
}

func (c *contest) doctor(t *testing.T, host int) verdict {
	t.Helper()
	status, said := c.locksmith(host, "doctor", c.address())
	if status != 0 && status != 73 {
		t.Errorf("doctor %s on host %d: exit status %d\n%s", c.address(), host, status, said)
	}
	return verdict{host, status == 0, said}
}

// reap does what an operator does where the maker of a directory was killed before it could say
// that the directory was its own.
func (c *contest) reap() (any bool) {
	if c.kind != (kind{scheme: "mkdir:"}) {
		return false
	}
	status, said := c.locksmith(1, "reap", "--yes", "--max-age", lease.String(), "mkdir:"+c.dir)
	c.operator = said
	return status == 0 && strings.Contains(said, "removed")
}

// report judges what was recorded, and tells it.
func (c *contest) report(t *testing.T) {
	for _, fault := range holds.Faults(c.history.All(), c.kind.tokens) {
		c.failures = append(c.failures, "overlap: "+fault)
	}
	left := 0
	for _, loss := range c.losses {
		if strings.Contains(loss, ": "+string(protocol.Unreleased)) {
			left++
		}
	}
	switch {
	case left > 0:
		c.failures = append(c.failures, fmt.Sprintf("not released: %d: %s", left, c.losses[0]))
	case len(c.losses) > fewLosses+c.holds/50:
		c.failures = append(c.failures, fmt.Sprintf("false loss: %d: %s", len(c.losses), c.losses[0]))
	}
	if len(c.failures) > 0 {
		_, said := c.locksmith(1, "status", c.address())
		tree, _ := exec.Command("ls", "-laR", "--full-time", "/mnt/export/locks").CombinedOutput()
		t.Logf("status: %s; reap: %s\n%s", said, c.operator, tree)
	}
	for _, f := range c.failures[:min(len(c.failures), 10)] {
		t.Log(f)
	}
	t.Logf("%d holds, by host %v, %d kills, %d directories reaped, losses without a reason: %q", c.holds, c.byHost, c.kills, c.reaps, c.losses)
	o := c.outcome()
	for _, v := range c.verdicts {
		if !v.fit {
			t.Logf("doctor on host %d:\n%s", v.host, v.said)
		}
		if v.fit != (o.What == works) {
			t.Errorf("doctor on host %d does not agree with %q:\n%s", v.host, o, v.said)
		}
	}
	tell(t, o)
	if o.What == works && c.holds == 0 {
		t.Error("no holds")
	}
}
