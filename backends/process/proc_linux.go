package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// CheckProc returns an error unless /proc shows processes by the numbers by which we know them.
// It may not be mounted. Or it may be that of another pid namespace, such as the host's in a
// container, where our numbers are those of other processes (pid_namespaces(7)). There we have a
// number for each namespace from that of /proc to our own. The first may happen to equal the last.
func CheckProc() error { return checkProc() }

var checkProc = sync.OnceValue(func() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	return checkNumbers(string(status), os.Getpid())
})

// checkNumbers looks at all numbers of this process in /proc/self/status (NSpid, since Linux 4.1).
func checkNumbers(status string, pid int) error {
	for line := range strings.Lines(status) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			if strings.TrimSpace(numbers) == strconv.Itoa(pid) {
				return nil
			}
			return fmt.Errorf("/proc is that of another pid namespace: %w", ErrNotVisible)
		}
	}
	return fmt.Errorf("/proc does not tell whether it is that of our pid namespace, as Linux does since 4.1: %w", ErrNotVisible)
}

// SelfInProc returns this process's number in /proc.
func SelfInProc() (int, error) {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(self)
}

// stat returns the start time of pid, and whether the process has ended already: it may be a
// zombie, for which nobody has waited yet.
func stat(pid int) (start uint64, ended bool, err error) {
	if err := CheckProc(); err != nil {
		return 0, false, statError(pid, err)
	}
	s, err := ReadStat(pid)
	if err != nil {
		return 0, false, statError(pid, err)
	}
	return s.Start, s.Ended, nil
}

// Name returns what the process with this pid is called, or "".
func Name(pid int) string {
	if CheckProc() != nil {
		return ""
	}
	s, _ := ReadStat(pid)
	return s.Name
}

// Stopped reports whether a signal or a debugger has stopped p. It goes on when told to.
func (p Process) Stopped() bool {
	if CheckProc() != nil || p.PID <= 0 || p.Lifeline != "" {
		return false
	}
	s, err := ReadStat(p.PID)
	return err == nil && (s.State == "T" || s.State == "t") && (p.Start == 0 || s.Start == p.Start)
}

// children are the processes that p has started and that have not ended, as far as the kernel
// tells.
func (p Process) children() (all []Process) {
	if CheckProc() != nil || p.PID <= 0 {
		return nil
	}
	for _, task := range namesIn(fmt.Sprintf("/proc/%d/task", p.PID)) {
		for text, _ := range Readings(fmt.Sprintf("/proc/%d/task/%s/children", p.PID, task)) {
			for word := range strings.FieldsSeq(text) {
				if pid, err := strconv.Atoi(word); err == nil && !slices.ContainsFunc(all, func(c Process) bool { return c.PID == pid }) {
					if child, err := Find(pid); err == nil && !child.Gone() {
						all = append(all, child)
					}
				}
			}
		}
	}
	return all
}

// IsChildOf reports whether q has started p, and both are still there.
func (p Process) IsChildOf(q Process) bool {
	if CheckProc() != nil || p.Gone() || q.Gone() {
		return false
	}
	s, err := ReadStat(p.PID)
	return err == nil && q.PID != 0 && s.Parent == q.PID
}

// Owner is the user of the process with this pid, as far as the process lets others look.
func Owner(pid int) (uid int, known bool) {
	var st unix.Stat_t
	if CheckProc() != nil || unix.Stat("/proc/"+strconv.Itoa(pid), &st) != nil {
		return 0, false
	}
	return int(st.Uid), true
}

// Arguments are the first arguments of the process with this pid, beginning with its program:
// those that /proc shows whole in 1 KiB. The process may have written something else there.
func Arguments(pid int) []string {
	if CheckProc() != nil {
		return nil
	}
	text, _ := ReadShort("/proc/" + strconv.Itoa(pid) + "/cmdline")
	all := strings.Split(text, "\x00")
	return all[:len(all)-1] // an argument without a NUL at its end may be only a part
}

// statError distinguishes a process that does not exist from one that is hidden (hidepid, no
// /proc): signal 0 reaches the latter.
func statError(pid int, err error) error {
	if kill := unix.Kill(pid, 0); errors.Is(kill, unix.ESRCH) {
		return ErrNoProcess
	}
	return fmt.Errorf("pid %d: %w: %w", pid, ErrNotVisible, err)
}

// Tasks returns how many threads all processes of the machine have, if the kernel tells.
func Tasks() int {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int(info.Procs)
}

// A Stat is what /proc tells about a process (proc_pid_stat(5)).
type Stat struct {
	Name   string // of the program or the script, or what it calls itself; 15 bytes at most
	State  string // a letter
	Parent int    // its pid
	Start  uint64 // in clock ticks since boot
	Ended  bool   // it runs no instruction any more, but its parent may not have noticed
}

// ReadStat returns what /proc tells about the process that it shows by this number. CheckProc
// tells whether that is the process that we know by the number.
//
// The dot in the path is for qemu's user mode, which runs programs for other processors. A program
// that reads /proc/PID/stat of itself gets an answer of qemu's there: as the start of the process it
// has when the asking thread began. So a process with two threads would prove itself dead. Qemu
// compares the text of the path, and lets the kernel answer for others.
func ReadStat(pid int) (Stat, error) {
	line, err := ReadShort("/proc/./" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, err
	}
	return parseStat(line)
}

// parseStat parses the line of /proc/PID/stat. Its second field is the program's name in
// brackets, which may hold anything.
func parseStat(line string) (Stat, error) {
	begin, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	fields := strings.Fields(line[end+1:]) // from the third field on
	if len(fields) < 20 || begin < 0 || end < begin {
		return Stat{}, errors.New("/proc shows a line of unknown shape")
	}
	state, threads := fields[0], fields[17]
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return Stat{}, fmt.Errorf("/proc shows a parent of unknown shape: %w", err)
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return Stat{}, fmt.Errorf("/proc shows a start time of unknown shape: %w", err)
	}
	// If only the main thread of a process has ended, the state is Z, too, while its other
	// threads work on.
	ended := state == "X" || state == "Z" && (threads == "0" || threads == "1")
	return Stat{Name: line[begin+1 : end], State: state, Parent: parent, Start: start, Ended: ended}, nil
}

// UsesNamespace reports whether some process is in a pid namespace. That is known only to root
// outside of containers, and only if it may look at all processes: hidepid leaves some out of /proc,
// and a container with the host's pid namespace may be refused the others' (namespaces(7)).
func UsesNamespace(name string) (used, known bool) {
	if own, err := os.Readlink("/proc/self/ns/pid"); err != nil || own != FirstPIDNS || CheckProc() != nil {
		return false, false
	}
	if first, err := os.Readlink("/proc/1/ns/pid"); err != nil || first != FirstPIDNS {
		return false, false
	}
	known = true
	for _, pid := range namesIn("/proc") {
		switch its, err := os.Readlink("/proc/" + pid + "/ns/pid"); {
		case err == nil && its == name:
			return true, true
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ESRCH):
			known = false
		}
	}
	return false, known
}
