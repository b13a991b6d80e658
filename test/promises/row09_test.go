//go:build linux

package promises

import (
	"os"
	"os/exec"
	"strings"
	"syscall"

	"locksmith/test/lab"
)

// row9: who is it.
func row9() []question {
	return []question{
		{row: 9, name: "a holder in a user namespace", want: "status names the owner of its file, too", ask: inUserNamespace, of: ofThisDisk},
		{row: 9, name: "a dead holder's file in a group's directory", want: "another of the group gets the lock, whatever the umask was", ask: umaskOfDead, of: ofThisDisk},
	}
}

// Users who belong to nobody on this machine, and a group of both.
const alice, bob, group = 64011, 64012, 64020

// as makes a command another user's, with no other group.
func as(uid int, cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: group}}
	return cmd
}

// public gives the place to a group, or with the sticky bit to all.
func (c *cell) public(mode os.FileMode) {
	c.Helper()
	c.must(os.Chmod(c.Dir, mode))
	c.must(os.Chown(c.Dir, 0, group))
}

// at is a user's command, with no home.
func (c *cell) at(uid int, args ...string) *exec.Cmd {
	cmd := as(uid, c.command(args...))
	cmd.Env = append(cmd.Env, "HOME=/nonexistent")
	return cmd
}

func inUserNamespace(c *cell) evil {
	c.public(0o770 | os.ModeSetgid)
	lab.NeedProgram(c, "unshare")
	cmd := c.at(alice, "run", c.Address, "--", "sh", "-c", "echo in; exec cat")
	boxed := as(alice, exec.Command("unshare", append([]string{"-r", c.Program}, cmd.Args[1:]...)...))
	boxed.Env = cmd.Env
	j := c.started(boxed)
	defer j.end()
	if s := c.do("status", c.Address); !s.has("64011") {
		return evil(s.String())
	}
	return ""
}

func umaskOfDead(c *cell) evil {
	c.public(0o770 | os.ModeSetgid)
	cmd := c.at(alice, "-c", `umask 077; exec "$@"`, "sh", c.Program)
	cmd.Path, cmd.Args[0] = "/bin/sh", "sh"
	cmd.Args = append(cmd.Args, append(append([]string{"run"}, c.short()...), c.Address, "--", "sh", "-c", "echo in; exec cat")...)
	c.started(cmd).Kill()
	var s said
	if s = c.finish(c.at(bob, "run", "-w", "20", c.Address, "--", "echo", "ran")); strings.Contains(s.out, "ran") {
		return ""
	}
	return evil(s.String())
}
