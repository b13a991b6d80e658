//go:build linux

package sftplab

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"locksmith/protocol"
	"locksmith/test/lab/contest"
	"locksmith/test/lab/holds"
	"locksmith/test/sftpserver"
)

// TestThreeSides: helpers take one lock from three sides at once: by sftp:, by nfs: on the
// server's disk, and by nfs: as another account. Twelve contend at a time, four on each side in
// the mean, and some are killed.
func TestThreeSides(t *testing.T) {
	t.Parallel()
	p := start(t, sftpserver.Options{Chroot: *long})
	file := filepath.Join(filepath.Dir(p.server.Home), "log")
	if err := errors.Join(os.Mkdir(p.dir, 0o777), os.Chmod(p.dir, 0o777), // both accounts may use it
		os.Chown(p.dir, p.server.UID, p.server.GID), os.WriteFile(file, nil, 0o666), os.Chmod(file, 0o666)); err != nil {
		t.Fatal(err)
	}
	rounds := int32(90)
	if *long {
		rounds = 1500
	}
	var turn atomic.Int32
	c := contest.Contest{Log: &contest.Log{File: file}, Shared: true, Rounds: rounds,
		Excused: []int{protocol.Unreachable.Exit()}, // this machine may be too busy to log in
		Command: func(flags []string, command ...string) *exec.Cmd {
			switch turn.Add(1) % 3 {
			case 0:
				return p.guarded(flags, command...)
			case 1:
				return p.guardedNear(flags, command...)
			}
			return p.other(p.guardedNear(flags, command...))
		}}
	<-c.Start(t, 12)
	r := c.Log.Check(t, true)
	t.Logf("%d holders, %d pairs together, %d kills", len(r.Held), holds.Together(r.Held), len(r.Kills))
	if len(r.Kills) == 0 {
		t.Error("it was too easy")
	}
	p.atRest()
}

// guardedNear returns a command like guarded's that takes the lock on the server's disk.
func (p *place) guardedNear(flags []string, command ...string) *exec.Cmd {
	near := *p
	near.address = "nfs:" + p.dir
	return near.guarded(flags, command...)
}

// other makes a command run as another account.
func (p *place) other(cmd *exec.Cmd) *exec.Cmd {
	const id = 64011
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	cmd.Dir = "/"
	return cmd
}
