//go:build linux

package promises

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"locksmith/test/lab"
)

// row12: containers and proofs of death.
func row12() []question {
	const lives = "who lives keeps the lock, and is not called dead"
	return []question{
		{row: 12, name: "a living holder in a sibling container", want: lives, ask: sibling("")},
		{row: 12, name: "proofs by pids alone", want: lives, ask: sibling("?pids=local"), of: named("link:")},
		{row: 12, name: "its helper is killed in a container, its parent works on", want: "nobody comes in beside the parent before the lease is over", ask: siblingsParent,
			not: exceptions{"If a helper of `hold` is killed with -9, the kernel frees its lock at once, while the parent still runs.": "flock:"}},
		{row: 12, name: "a kernel that hides others' locks", want: "the state is not told as free", ask: hidden, of: ofThisDisk},
		{row: 12, name: "without proc(5), under its own holder", want: "the state is not told as free", ask: withoutProc, of: ofThisDisk},
		{row: 12, name: "the proc(5) of others", want: lives, ask: foreignProc, of: ofThisDisk},
		{row: 12, name: "a process that this user may not look at", want: "nobody says that nothing is left of a living holder", ask: mayNotLook, of: ofThisDisk},
		{row: 12, name: "a place in the image", want: "doctor calls an overlay's upper directory weak, where locks are for one machine", ask: inImage, of: named("local: flock:")},
	}
}

// A sibling container has the same image: the same machine id and host name, and a boot id of its own.
func image() box { return box{host: "image", boot: newUUID()} }

// sibling asks in one container about a holder in another.
func sibling(options string) func(*cell) evil {
	return func(c *cell) evil {
		lease := c.lasting(time.Minute)
		j := c.started(c.in(image(), c.command(append(append([]string{"run"}, lease...), c.Address+options, "--", "sh", "-c", "echo in; exec cat")...)))
		defer j.end()
		there := image()
		if s := c.finish(c.in(there, c.command("status", c.Address+options))); s.has("dead", ": free") {
			return evil("status: " + s.String())
		}
		if s := c.finish(c.in(there, c.command("run", "-w", "2", c.Address+options, "--", "echo", "ran"))); strings.Contains(s.out, "ran") {
			return evil("two hold the lock: " + s.String())
		}
		return ""
	}
}

// siblingsParent: the parent learns of the death of its helper from the pipe, and needs a moment.
func siblingsParent(c *cell) evil {
	flags := strings.Join(c.lasting(time.Minute), " ")
	script := `mkfifo "$HOME/f"; "$LOCKSMITH_PROGRAM" hold ` + flags + ` "$LOCK" < "$HOME/f" > "$HOME/ok" & h=$!; exec 9> "$HOME/f"
until grep -q OK "$HOME/ok"; do sleep 0.05; done; kill -9 $h; echo in; cat`
	cmd := c.command("-c", script)
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh"}, cmd.Args[1:]...)
	j := c.started(c.in(image(), cmd))
	defer j.end()
	there := image()
	if s := c.finish(c.in(there, c.command("status", c.Address))); s.has("dead") {
		return evil("status: " + s.String())
	}
	if s := c.finish(c.in(there, c.command("run", "-w", "2", c.Address, "--", "echo", "ran"))); strings.Contains(s.out, "ran") {
		return evil("somebody is in beside the parent: " + s.String())
	}
	return ""
}

// hidden: in a pid namespace /proc/locks shows only its own processes' locks.
func hidden(c *cell) evil {
	j := c.run(c.lasting(time.Minute)...)
	defer j.end()
	var seen []string
	for _, args := range [][]string{{"status", c.Address}, {"status", "--json", c.Address}, {"list", c.Place}} {
		if s := c.finish(c.in(box{host: "sibling"}, c.command(args...))); s.has(": free", `"free"`) {
			seen = append(seen, s.String())
		}
	}
	return evil(strings.Join(seen, "; "))
}

// withoutProc: something else is mounted over /proc.
func withoutProc(c *cell) evil {
	j := c.run(c.lasting(time.Minute)...)
	defer j.end()
	s := c.unshared("mount -t tmpfs t /proc", "status", c.Address)
	if s.has(": free") || !s.has(c.Address) {
		return evil(s.String())
	}
	if s = c.unshared("mount -t tmpfs t /proc", "run", "-n", c.Address, "--", "echo", "ran"); strings.Contains(s.out, "ran") {
		return evil("two hold the lock: " + s.String())
	}
	return ""
}

// unshared runs a command after a script in a mount namespace.
func (c *cell) unshared(script string, args ...string) said {
	c.Helper()
	lab.NeedProgram(c, "unshare")
	cmd := exec.Command("unshare", append([]string{"-m", "sh", "-e", "-c", script + `; exec "$@"`, "sh", c.Program}, args...)...)
	cmd.Env = c.env()
	return c.finish(cmd)
}

// foreignProc: a pid namespace in which /proc is that of the machine.
func foreignProc(c *cell) evil {
	j := c.started(c.withForeignProc(append(append([]string{"run"}, c.lasting(time.Minute)...), c.Address, "--", "sh", "-c", "echo in; exec cat")...))
	defer j.end()
	for _, look := range []func(...string) said{c.do, func(args ...string) said { return c.finish(c.withForeignProc(args...)) }} {
		if s := look("status", c.Address); s.has("dead") {
			return evil("status: " + s.String())
		}
		if s := look("run", "-w", "2", c.Address, "--", "echo", "ran"); strings.Contains(s.out, "ran") {
			return evil("two hold the lock: " + s.String())
		}
	}
	return ""
}

func (c *cell) withForeignProc(args ...string) *exec.Cmd {
	c.Helper()
	lab.NeedProgram(c, "unshare")
	cmd := exec.Command("unshare", append([]string{"--pid", "--fork", "--kill-child", c.Program}, args...)...)
	cmd.Env = c.env()
	return cmd
}

// mayNotLook: another user may not look at the processes of a container.
func mayNotLook(c *cell) evil {
	c.public(0o777 | os.ModeSticky)
	j := c.started(c.in(box{host: "other"}, c.command(append(append([]string{"run"}, c.lasting(time.Minute)...), c.Address, "--", "sh", "-c", "echo in; exec cat")...)))
	defer j.end()
	if s := c.finish(c.at(bob, "status", c.Address)); s.has("is gone", "no process is left", "dead") {
		return evil(s.String())
	}
	return ""
}

// inImage: each container of an image has an upper directory of its own.
func inImage(c *cell) evil {
	for _, dir := range []string{"lower", "layers"} {
		c.must(os.Mkdir(filepath.Join(c.home, dir), 0o755))
	}
	script := fmt.Sprintf("mount -t tmpfs t %[1]s/layers; mkdir %[1]s/layers/upper %[1]s/layers/work; mount -t overlay o -o lowerdir=%[1]s/lower,upperdir=%[1]s/layers/upper,workdir=%[1]s/layers/work %[2]s", c.home, c.Dir)
	s := c.unshared(script, "doctor", c.Address)
	if s.has("mount:") {
		lab.Lacking(c, "no overlay here: "+s.err)
	}
	if !s.has("weak", "unfit") || !s.has("overlay") {
		return evil(s.String())
	}
	return ""
}
