package child

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/process"
)

// setSubreaper makes orphaned descendants our children, so that we can wait for them
// (PR_SET_CHILD_SUBREAPER(2const)). It fails without /proc: there signalDescendants could not end
// such orphans, and Lost would wait for them.
func setSubreaper() error {
	if _, err := process.SelfInProc(); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// askToEnd asks the command and all its descendants to end.
func (c *Command) askToEnd() {
	c.signalAll(syscall.SIGTERM)
	c.signalAll(syscall.SIGCONT)
}

// kill kills those that are left.
func (c *Command) kill() { c.signalAll(syscall.SIGKILL) }

// signalAll signals the command by itself, too, where /proc does not show all of its descendants.
func (c *Command) signalAll(s syscall.Signal) {
	if err := c.signalDescendants(s); err != nil {
		c.Log.Debug("descendants of the command are not known", "error", err)
		c.signal(s)
	}
}

// signalDescendants sends a signal to the command and its descendants: to every descendant of this
// process that /proc shows, except programs of our own, bystanders, and the descendants of both.
// If a descendant forks at that moment, its child may escape, so the caller calls again. If /proc
// does not show all processes, an error is returned, and only those that it shows get the signal.
func (c *Command) signalDescendants(sig unix.Signal) error {
	self, err := process.SelfInProc()
	if err != nil {
		return err
	}
	of, err := allChildren()
	for _, pid := range ourNumbers(self, descendants(of, c.notBystanders(notOwn(self, of[self])))) {
		_ = unix.Kill(pid, sig) // it may have ended meanwhile
	}
	return err
}

// anyLeft reports whether the command or an orphaned descendant of it is left, as far as /proc shows.
// It looks twice, because nobody seen does not mean that nobody is left: a process whose parent ends
// while we read may have been passed as that one's child, before it became ours.
func (c *Command) anyLeft() bool {
	for range 2 {
		if c.seesAny() {
			return true
		}
	}
	return false
}

// seesAny reports whether a child of ours is neither a program of our own nor a bystander. If the
// system lacks something to look with, it looks again.
func (c *Command) seesAny() bool {
	self, err := process.SelfInProc()
	if err != nil {
		return false // without /proc orphans do not become our children (setSubreaper)
	}
	of, err := allChildren()
	for ; isShortage(err); of, err = allChildren() {
		time.Sleep(killAgain)
	}
	return len(c.notBystanders(notOwn(self, of[self]))) > 0
}

// meetBystanders remembers who descends from us before there is a command. A script may have
// started a logger, and then become us by exec. If a bystander starts a process later, and ends
// before that process does, the process counts as the command's.
func (c *Command) meetBystanders() {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if c.hadChildren = !errors.Is(err, unix.ECHILD); !c.hadChildren {
		return // the usual case, and reading all of /proc takes time
	}
	self, err := process.SelfInProc()
	if err != nil {
		return
	}
	of := childrenByParent()
	c.bystanders = map[int]uint64{}
	for _, pid := range descendants(of, notOwn(self, of[self])) {
		if s, err := process.ReadStat(pid); err == nil {
			c.bystanders[pid] = s.Start
		}
	}
}

// notBystanders leaves bystanders out. The number of a bystander may be another process's by now.
func (c *Command) notBystanders(pids []int) []int {
	if len(c.bystanders) == 0 {
		return pids
	}
	return slices.DeleteFunc(pids, func(pid int) bool {
		start, ok := c.bystanders[pid]
		if !ok {
			return false
		}
		s, err := process.ReadStat(pid)
		return err == nil && s.Start == start || isShortage(err)
	})
}

// descendants returns the processes roots and all their descendants. of has the children of each
// process.
func descendants(of map[int][]int, roots []int) []int {
	all := roots
	for i := 0; i < len(all); i++ {
		all = append(all, of[all[i]]...)
	}
	return all
}

// notOwn leaves out programs of our own, such as an ssh, which end when we do.
func notOwn(self int, pids []int) []int {
	own := process.Own()
	if len(own) == 0 {
		return slices.Clone(pids)
	}
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
		n := ourNumbers(self, []int{pid})
		return len(n) == 1 && own[n[0]]
	})
}

// childrenByParent is allChildren for a caller that can bear that some are missing.
func childrenByParent() map[int][]int {
	of, _ := allChildren()
	return of
}

// allChildren returns the children of all processes that /proc shows. Its numbers are those in
// /proc. The error says that some may be missing, because the system had no descriptor or memory to
// look with.
func allChildren() (of map[int][]int, err error) {
	of = map[int][]int{}
	entries, err := os.ReadDir("/proc")
	for _, e := range entries {
		pid, notPID := strconv.Atoi(e.Name())
		if notPID != nil {
			continue
		}
		s, wrong := process.ReadStat(pid)
		switch {
		case wrong == nil && !s.Ended:
			of[s.Parent] = append(of[s.Parent], pid)
		case isShortage(wrong):
			err = wrong
		}
	}
	return of, err
}

// isShortage reports whether an error says nothing of a process, but that the system had no
// descriptor or memory to look with.
func isShortage(err error) bool {
	return backend.IsErrno(err, unix.EMFILE, unix.ENFILE, unix.ENOMEM)
}

// ourNumbers turns numbers in /proc into numbers of our pid namespace, which is the namespace of
// /proc or one within it.
func ourNumbers(self int, pids []int) []int {
	if self == os.Getpid() {
		return pids
	}
	level := len(namespaceNumbers(self))
	var ours []int
	for _, pid := range pids {
		if n := namespaceNumbers(pid); level > 0 && len(n) >= level {
			ours = append(ours, n[level-1])
		}
	}
	return ours
}

// namespaceNumbers returns the numbers of a process in its pid namespaces, from that of /proc
// inwards (proc_pid_status(5), NSpid).
func namespaceNumbers(pid int) []int {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return nil
	}
	var all []int
	for line := range strings.Lines(string(status)) {
		list, found := strings.CutPrefix(line, "NSpid:")
		if !found {
			continue
		}
		for _, text := range strings.Fields(list) {
			if n, err := strconv.Atoi(text); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// isStoppedInFork reports whether a process waits in vfork(2) for its child, and a signal has
// stopped that child before it became another program. The signal is meant for both, but a process
// that waits in vfork(2) cannot be stopped.
func isStoppedInFork(pid int) bool {
	return state(pid) == "D" && slices.ContainsFunc(childrenByParent()[pid], func(child int) bool { return state(child) == "T" })
}

// state returns the letter that /proc shows for a process, or "".
func state(pid int) string {
	if process.CheckProc() != nil {
		return ""
	}
	s, err := process.ReadStat(pid)
	if err != nil {
		return ""
	}
	return s.State
}
