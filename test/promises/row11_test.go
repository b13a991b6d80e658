//go:build linux

package promises

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
	"locksmith/test/lab/kinds"
)

// row11: neighbours, which are other users of the machine.
func row11() []question {
	return []question{
		{row: 11, name: "a reader locks what it may read", want: "each of root's runs gets the lock", ask: readerLocks, of: func(k kinds.Kind) bool { return ofThisDisk(k) && !k.Kernel }},
		{row: 11, name: "another user has the name of a dead lifeline", want: "the lock of the dead is taken all the same", ask: deadName, of: ofThisDisk},
		{row: 11, name: "a copy of a record in another user's file", want: "status gives root no command to kill its own helper", ask: copiedRecord, of: named("local: link: flock:")},
		{row: 11, name: "a planted link where the lock would be", want: "what it names is not made", ask: plantedLink, of: ofThisDisk},
		{row: 11, name: "a planted file of events", want: "timeline -o writes over nobody's file, and does not hang", ask: plantedOutput, of: named("local:")},
		{row: 11, name: "a planted success", want: "root's job runs, or tells why not", ask: plantedSuccess, of: func(k kinds.Kind) bool { return k.Once && ofThisDisk(k) }},
		{row: 11, name: "a flood of files", want: "list is bounded, and a metric says so", ask: flood, of: named("local: link:")},
		{row: 11, name: "a profile in a directory that all may write", want: "it is refused", ask: sharedProfile},
	}
}

// readerLocks: another user opens the lock's files for reading and locks them, as often as it can.
func readerLocks(c *cell) evil {
	c.must(os.Chmod(c.Dir, 0o755))
	reader := as(alice, exec.Command(c.python(), "-c", `
import fcntl, os, sys
print('in', flush=True)
kept = []
while True:
    try:
        f = os.open(sys.argv[1], os.O_RDONLY)
        fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(f, fcntl.LOCK_UN)
        os.close(f)
    except OSError:
        try: os.close(f)
        except Exception: pass
`, c.Path))
	r := c.started(reader)
	defer r.Kill()
	lost := 0
	var s said
	for range 8 {
		if s = c.do("run", "-n", c.Address, "--", "echo", "ran"); !strings.Contains(s.out, "ran") {
			lost++
		}
	}
	if lost > 0 {
		return evil("of 8 runs it keeps " + strconv.Itoa(lost) + " out: " + s.String())
	}
	return ""
}

// lifelines are the names of abstract sockets that a process has.
func (c *cell) lifelines(pid int) (all []string) {
	c.Helper()
	text, err := os.ReadFile("/proc/net/unix")
	c.must(err)
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	c.must(err)
	for _, fd := range open {
		socket, _ := os.Readlink(fd) // it may be closed by now
		for line := range strings.Lines(string(text)) {
			// Num RefCount Protocol Flags Type St Inode Path (proc(5))
			if f := strings.Fields(line); len(f) == 8 && "socket:["+f[6]+"]" == socket && strings.HasPrefix(f[7], "@") {
				all = append(all, f[7][1:])
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all) // while a command is started, its helper has its lifeline open twice
}

// squatter has a name as soon as nobody else has it, which it does not wait for without end.
const squatter = `
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
for left in range(3000, -1, -1):
    try:
        s.bind('\0' + sys.argv[1])
        break
    except OSError:
        if not left: raise
        time.sleep(0.01)
s.listen(1)
print('in', flush=True)
sys.stdin.read()
`

// deadName: all see the name, and may have it once its owner is dead.
func deadName(c *cell) evil {
	j := c.run(c.lasting(time.Hour)...)
	names := c.lifelines(j.PID())
	j.Kill()
	for _, name := range names {
		c.started(as(alice, exec.Command(c.python(), "-c", squatter, name)))
	}
	if s := c.do("run", "-w", "5", c.Address, "--", "echo", "ran"); !strings.Contains(s.out, "ran") {
		return evil(s.String())
	}
	return ""
}

// copiedRecord: root has another lock, and its record is copied.
func copiedRecord(c *cell) evil {
	c.public(0o777 | os.ModeSticky)
	other := c.Beside("2")
	j := c.started(c.command("run", other, "--", "sh", "-c", "echo in; exec cat"))
	defer j.end()
	text, err := os.ReadFile(c.Path + "2")
	c.must(err)
	c.must(os.WriteFile(c.Path, text, 0o644))
	c.must(os.Chown(c.Path, alice, group))
	pid := strconv.Itoa(j.PID())
	for _, command := range []string{"status", "break"} {
		if s := c.do(command, c.Address); s.has("kill "+pid, "kill -9 "+pid, "kill -CONT "+pid) {
			return evil(command + ": " + s.String())
		}
	}
	return ""
}

func plantedLink(c *cell) evil {
	c.public(0o777 | os.ModeSticky)
	victim := filepath.Join(c.home, "victim")
	c.must(os.Symlink(victim, c.Path))
	c.must(os.Lchown(c.Path, alice, group))
	for range 2 {
		s := c.try()
		if made, err := os.Lstat(victim); err == nil {
			return evil("it makes " + made.Name() + ": " + s.String())
		}
	}
	return ""
}

func plantedOutput(c *cell) evil {
	events := filepath.Join(c.home, "events")
	if s := c.do("run", "--events", events, c.Address, "--", "true"); s.status != 0 {
		c.Fatal(s)
	}
	c.public(0o777 | os.ModeSticky)
	victim, link, pipe := filepath.Join(c.home, "victim"), filepath.Join(c.Dir, "link"), filepath.Join(c.Dir, "pipe")
	c.must(os.WriteFile(victim, []byte("precious"), 0o644))
	c.must(errors.Join(os.Symlink(victim, link), os.Lchown(link, alice, group), unix.Mkfifo(pipe, 0o666)))
	c.do("timeline", "-o", link, events)
	if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" {
		return "timeline writes over what another user's link names"
	}
	p := lab.Start(c, c.command("timeline", "-o", pipe, events))
	if !(&job{p}).endsWithin(20 * time.Second) {
		return "timeline hangs on another user's FIFO"
	}
	return ""
}

// plantedSuccess: a member of the group says that the job has succeeded.
func plantedSuccess(c *cell) evil {
	c.public(0o770 | os.ModeSetgid)
	s := c.finish(c.at(alice, "run", "--once-per", "1h", c.Address, "--", "true"))
	if s.status != 0 {
		c.Fatal(s)
	}
	if s := c.do("run", "--once-per", "1h", c.Address, "--", "echo", "ran"); !strings.Contains(s.out, "ran") && s.err == "" {
		return evil("root's job is skipped: " + s.String())
	}
	return ""
}

// flood: another user makes more files with a pid than are shown. root's lock comes after them.
func flood(c *cell) evil {
	const made, shown = 10_500, 10_000
	c.public(0o777 | os.ModeSticky)
	for i := range made {
		path := filepath.Join(filepath.Dir(c.Path), strconv.Itoa(i))
		c.must(os.WriteFile(path, []byte("4242\n"), 0o644))
		c.must(os.Chown(path, alice, group))
	}
	defer c.run().end()
	s := c.do("list", "--format", "openmetrics", "--depth", "1", c.Place)
	switch {
	case strings.Count(s.out, "\nlocksmith_lock_held{") != shown+1 || !strings.Contains(s.out, fmt.Sprintf("\nlocksmith_lock_held{lock=%q} 1\n", c.Address)):
		return evil(fmt.Sprintf("%d locks are shown, and root's is not, or not alone: %s", strings.Count(s.out, "\nlocksmith_lock_held{"), s.err))
	case !strings.Contains(s.out, fmt.Sprintf("\nlocksmith_list_left_out %d\n", made-shown)) || !strings.Contains(s.out, "\nlocksmith_list_errors 1\n"):
		return evil("no metric says how many were left out: " + s.out[max(0, len(s.out)-500):])
	case s.status != 73 || !strings.Contains(s.err, fmt.Sprintf("(left out: %d)", made-shown)):
		return evil(fmt.Sprintf("status %d: %s", s.status, s.err))
	}
	return ""
}

// sharedProfile: everybody may replace the profile.
func sharedProfile(c *cell) evil {
	config := filepath.Join(c.home, "config")
	c.must(errors.Join(os.Chmod(filepath.Dir(c.home), 0o755), os.MkdirAll(filepath.Join(config, "locksmith"), 0o755), os.Chmod(filepath.Join(config, "locksmith"), 0o777)))
	c.must(os.WriteFile(filepath.Join(config, "locksmith/profiles.toml"), []byte("[job]\nlock = '"+c.Address+"'\n"), 0o644))
	cmd := c.command("run", "-n", "job", "--", "echo", "ran")
	cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+config)
	if s := c.finish(cmd); s.status != 78 {
		return evil(s.String())
	}
	return ""
}
