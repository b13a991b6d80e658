//go:build linux

package promises

import (
	"strings"
	"syscall"
	"time"
)

// row6: ends.
func row6() []question {
	return []question{
		{row: 6, name: "lost while the job runs", want: "the job's own status is told beside the loss", ask: statusOfLost, of: hasLease},
		{row: 6, name: "lost before the release", want: "the job's own status is told beside the loss", ask: statusOfUnreleased},
		{row: 6, name: "the release fails", want: "the job's own status is told beside that", ask: statusOfFailedRelease, of: named("link: mkdir: mkdir:?style=dir nfs:")},
		{row: 6, name: "a signal to all processes of a job", want: "with --no-forward it reaches the command once", ask: signalledOnce},
		{row: 6, name: "run -v", want: "it says how long it waited, before the command says anything", ask: saysWait},
	}
}

// statusOfLost: the command starts no program, for it has 100 ms to end.
func statusOfLost(c *cell) evil {
	j := c.runs("trap 'exit 3' TERM; echo in; while :; do read x; done", c.short()...)
	c.Remove(c)
	if s := j.ended(); s.status != 79 || !strings.Contains(s.err, "status 3") {
		return evil(s.String())
	}
	return ""
}

func statusOfUnreleased(c *cell) evil {
	j := c.runs("echo in; cat; exit 3")
	c.Remove(c)
	s := j.end()
	if s.status == 79 && strings.Contains(s.err, "status 3") {
		return ""
	}
	return evil(s.String())
}

// statusOfFailedRelease: the file system of the place becomes one that may only be read.
func statusOfFailedRelease(c *cell) evil {
	s := c.unshared("mount --bind "+c.Dir+" "+c.Dir, "run", "--release-timeout", "1s", c.Address, "--", "sh", "-c", "mount -o remount,ro,bind "+c.Dir+"; exit 3")
	if s.status != 79 || !strings.Contains(s.err, "status 3") {
		return evil(s.String())
	}
	return ""
}

func signalledOnce(c *cell) evil {
	cmd := c.command("run", "--no-forward", c.Address, "--", "sh", "-c", "trap 'echo got' USR1; echo in; while read x; do :; done; while read x; do :; done; exit 0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	j, failed := c.tryStart(cmd)
	if failed != "" {
		return failed
	}
	c.must(syscall.Kill(-j.PID(), syscall.SIGUSR1))
	time.Sleep(300 * time.Millisecond)
	j.LetGo()
	if got := strings.Join(j.Rest(), " "); got != "got" {
		return evil("the command says " + got)
	}
	return ""
}

// saysWait waits for nobody.
func saysWait(c *cell) evil {
	s := c.do("run", "-v", c.Address, "--", "sh", "-c", "echo job >&2")
	before, _, found := strings.Cut(s.err, "job\n")
	if !found || !strings.Contains(before, "wait") {
		return evil(s.String())
	}
	return ""
}
