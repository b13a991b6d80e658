//go:build linux

package promises

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"locksmith/test/lab"
)

// row7: two who do not know each other.
func row7() []question {
	return []question{
		{row: 7, name: "a locker with a binary pid comes second", want: "with ?pid=binary it is refused", ask: binarySecond, of: named("local:")},
		{row: 7, name: "a locker with a binary pid comes first", want: "with ?pid=binary a try is refused, and takes the lock once that locker is dead", ask: binaryFirst, of: named("local:")},
		{row: 7, name: "a binary file", want: "without that option a short quiet try refuses it in words", ask: binaryFile, of: named("local: link:")},
		{row: 7, name: "a file locked by fcntl", want: "nothing is written there, and a try warns", ask: byFcntl, of: named("flock:")},
		{row: 7, name: "Tcl's lockf died on this host", want: "a try takes its lock at once", ask: deadTcl, of: named("link:")},
		{row: 7, name: "an empty file locked by fcntl", want: "a short quiet try does not take it", ask: emptyByFcntl, of: named("local: link:")},
	}
}

// recipe is what programs in C do: who makes the file has the lock, and writes a pid_t; who finds a
// dead pid removes the file.
const recipe = `
import os, struct, sys
path = sys.argv[1]
for i in range(3):
    try:
        f = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        text = open(path, 'rb').read(4)
        if len(text) < 4: continue
        try:
            os.kill(struct.unpack('i', text)[0], 0)
        except (ProcessLookupError, OverflowError):
            os.unlink(path)
        except PermissionError:
            pass
        continue
    os.write(f, struct.pack('i', os.getpid()))
    os.close(f)
    print('in', flush=True)
    sys.stdin.read()
    os.unlink(path)
    sys.exit(0)
sys.exit(75)
`

// python is one that other users may run, too.
func (c *cell) python() string {
	c.Helper()
	return lab.NeedProgram(c, "/usr/bin/python3")
}

func (c *cell) recipe() *exec.Cmd {
	c.Helper()
	return exec.Command(c.python(), "-c", recipe, c.Path)
}

func binarySecond(c *cell) evil {
	cmd := c.command("run", c.Address+"?pid=binary", "--", "sh", "-c", "echo in; exec cat")
	j, failed := c.tryStart(cmd)
	if failed != "" {
		return failed
	}
	second := c.recipe()
	second.Stdin = lab.Null(c)
	if s := c.finish(second); s.status != 75 {
		return evil("two hold the lock: " + s.String())
	}
	if s := j.end(); s.status != 0 {
		return evil(s.String())
	}
	return ""
}

func binaryFirst(c *cell) evil {
	first := c.started(c.recipe())
	try := func() said { return c.do("run", "-n", c.Address+"?pid=binary", "--", "echo", "ran") }
	if s := try(); s.status != 75 || strings.Contains(s.out, "ran") {
		return evil("beside it: " + s.String())
	}
	first.Kill()
	if s := c.do("run", "-w", "20", c.Address+"?pid=binary", "--", "echo", "ran"); !strings.Contains(s.out, "ran") {
		return evil("after its death: " + s.String())
	}
	return ""
}

func binaryFile(c *cell) evil {
	c.started(c.recipe())
	if s := c.do("run", "-n", "-q", "-E", "0", c.Address, "--", "echo", "ran"); strings.Contains(s.out, "ran") || !strings.Contains(s.err, "binary") {
		return evil(s.String())
	}
	return ""
}

// lockf locks a file as dpkg and lckdo do.
const lockf = `
import fcntl, sys
f = open(sys.argv[1], 'r+')
fcntl.lockf(f, fcntl.LOCK_EX)
print('in', flush=True)
sys.stdin.read()
`

func (c *cell) lockedByFcntl() {
	c.Helper()
	c.must(os.WriteFile(c.Path, nil, 0o644))
	c.started(exec.Command(c.python(), "-c", lockf, c.Path))
}

func byFcntl(c *cell) evil {
	c.lockedByFcntl()
	s := c.do("run", "-n", c.Address, "--", "echo", "ran")
	if info, err := os.Stat(c.Path); err != nil || info.Size() > 0 {
		return "its record is in that file"
	}
	if !strings.Contains(s.err, "fcntl") {
		return evil(s.String())
	}
	return ""
}

func emptyByFcntl(c *cell) evil {
	c.lockedByFcntl()
	if s := c.try(); strings.Contains(s.out, "ran") {
		return "it goes in"
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "l")); err != nil {
		return evil(err.Error())
	}
	return ""
}

// deadTcl: what the lockf of Tcl leaves (wiki.tcl-lang.org, Lock files using atomic hard links).
func deadTcl(c *cell) evil {
	host, err := os.Hostname()
	c.must(err)
	dead := exec.Command("true")
	c.must(dead.Run())
	text := fmt.Sprintf("host %s pid %d lockfile %s locker %s.lck timestamp 1764262013012 time {2026-11-27 16:46:53.12} randomiser {}", host, dead.Process.Pid, c.Path, c.Path)
	c.must(os.WriteFile(c.Path, []byte(text), 0o644))
	if s := c.do("run", "-w", "20", c.Address, "--", "echo", "ran"); !strings.Contains(s.out, "ran") {
		return evil(s.String())
	}
	return ""
}
