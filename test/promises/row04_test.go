//go:build linux

package promises

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"locksmith/test/lab/kinds"
)

// row4: the guide's alert rules, against each condition.
func row4() []question {
	const fires = "one of the guide's rules fires"
	return []question{
		{row: 4, name: "who lives and beats", want: "no rule fires", ask: whoLives, of: isListed},
		{row: 4, name: "stopped for longer than its lease", want: fires, ask: whoIsStopped, of: isListed, not: freedByCluster},
		{row: 4, name: "killed, and its job left something", want: fires, ask: whatIsLeft, of: isListed, not: freedByCluster},
		{row: 4, name: "died on another host", want: fires, ask: whoDiedElsewhere, of: func(k kinds.Kind) bool { return isListed(k) && ofManyHosts(k) }, not: freedByCluster},
		{row: 4, name: "who does what status says", want: "its one command frees the lock of who is stopped, of what was left, and of who died on another host", ask: statusIsFollowed, of: isListed, not: freedByCluster},
		{row: 4, name: "a place is missing", want: "list -o writes the file all the same, with the others' locks", ask: missingPlace, of: isListed},
		{row: 4, name: "one directory by two addresses", want: "nobody is held by one address who is by another", ask: phantom, of: named("local: flock:")},
	}
}

// freedByCluster: nobody is left to tell of, or to break.
var freedByCluster = exceptions{"the cluster itself frees the lock of a holder that is silent for its lease": "etcd:"}

// whoLives is tried again: on a busy machine a holder with a short lease may get no time to beat.
func whoLives(c *cell) (e evil) {
	for range 5 {
		j := c.run(c.short()...)
		time.Sleep(2 * c.lease())
		which := c.metrics().firing(c)
		if s := j.end(); len(which) == 0 && s.status == 0 {
			return ""
		}
		e = evil(fmt.Sprint(which, " fire"))
	}
	return e
}

// alerts looks again where no rule fires: what set them off stays, and a busy machine may be slow to show it.
func (c *cell) alerts() evil {
	c.Helper()
	time.Sleep(2*c.lease() + c.lease()/2)
	for range 4 {
		if len(c.metrics().firing(c)) > 0 {
			return ""
		}
		time.Sleep(c.lease())
	}
	return "no rule fires"
}

// statusIsFollowed types what status says is to be done, as somebody who knows nothing else.
func statusIsFollowed(c *cell) evil {
	stopped := c.run()
	stopped.Stop()
	e := c.follow("no", "is stopped")
	stopped.Cont() // if status did not
	stopped.end()
	if e == "" {
		c.leave()
		e = c.follow("no", "sleep")
	}
	if e == "" && ofManyHosts(c.Kind) {
		c.die(elsewhere())
		time.Sleep(c.lease() + c.lease()/4)
		e = c.follow("not known", "elsewhere")
	}
	return e
}

// follow does what status says, which must say whether it is safe to break the holder, and who that is.
func (c *cell) follow(safe, who string) evil {
	c.Helper()
	s := c.do("status", c.Address)
	_, command, told := strings.Cut(s.out, "\n    do this: ")
	command, _, _ = strings.Cut(command, "\n")
	if !told || !strings.Contains(s.out, "\n    safe to break? "+safe+": ") || !strings.Contains(s.out, "\n    who: ") || !strings.Contains(s.out, who) {
		return evil(s.String())
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Env = c.env()
	if did := c.finish(cmd); did.status != 0 {
		return evil(command + ": " + did.String())
	}
	if strings.Contains(command, "-CONT") { // the job goes on, and ends by itself
		return ""
	}
	if next := c.do("run", "-w", "60", c.Address, "--", "echo", "ran"); !strings.Contains(next.out, "ran") {
		return evil(command + ", and then: " + next.String())
	}
	return ""
}

func whoIsStopped(c *cell) evil {
	j := c.run(c.short()...)
	j.Stop()
	defer j.Cont()
	return c.alerts()
}

func whatIsLeft(c *cell) evil {
	c.leave()
	return c.alerts()
}

// leave kills a job with its helper, and something that it started lives.
func (c *cell) leave() {
	c.Helper()
	pid := filepath.Join(c.home, "pid")
	j := c.runs("setsid sh -c 'echo $$ > "+pid+"; exec sleep 600' & until test -s "+pid+"; do sleep 0.01; done; echo in; wait", c.short()...)
	c.Cleanup(func() {
		text, _ := os.ReadFile(pid)
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	})
	j.Kill()
}

func whoDiedElsewhere(c *cell) evil {
	c.die(elsewhere())
	return c.alerts()
}

func missingPlace(c *cell) evil {
	j := c.run()
	defer j.end()
	file := filepath.Join(c.home, "locks.prom")
	s := c.do("list", "--format", "openmetrics", "--depth", "1", "-o", file, c.Place, filepath.Join(c.home, "missing")+"/")
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), `locksmith_lock_held{lock="`+c.path()) || !strings.Contains(string(text), "# EOF") {
		return evil(s.String())
	}
	return ""
}

// phantom: the same file is one kind's.
func phantom(c *cell) evil {
	j := c.run()
	defer j.end()
	m, holders := c.metrics("local:"+c.Dir, "flock:"+c.Dir), 0
	for _, one := range m {
		if one.name == "locksmith_lock_held" && one.value > 0 {
			holders++
		}
	}
	if holders != 1 {
		return evil("held by " + number(float64(holders)))
	}
	return ""
}
