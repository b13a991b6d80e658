//go:build linux

package sftplab

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab/contest"
	"locksmith/test/sftpserver"
)

// TestHistory: eight helpers at a time take the lock or share it, while helpers, their ssh and
// sessions of the server are killed with -9 at random moments. No two hold it together that
// exclude each other, tokens rise, and later helpers clear up what the killed ones left.
func TestHistory(t *testing.T) {
	t.Parallel()
	kinds, rounds := map[string]sftpserver.Options{"OpenSSH": {}}, int32(60)
	if *long {
		rounds = 1000
		kinds = map[string]sftpserver.Options{"OpenSSH": {}, "external": {External: true}, "chroot": {Chroot: true},
			"asyncssh": {Kind: sftpserver.AsyncSSH}, "pkg-sftp": {Kind: sftpserver.PkgSFTP}}
	}
	for name, o := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, o)
			c := contest.Contest{Log: contest.NewLog(t), Command: p.guarded, Shared: true, Rounds: rounds,
				// Unreachable: the connection was killed before the helper got as far as to wait. Gone: a
				// helper that has let go need not know whether its lock was broken meanwhile.
				Excused: []int{protocol.Unreachable.Exit(), protocol.Gone.Exit()}}
			ssh, sessions := p.harm(&c, c.Start(t, 8))
			r := c.Log.Check(t, true)
			t.Logf("%d holders; killed: %d helpers, %d ssh, %d sessions", len(r.Held), len(r.Kills), ssh, sessions)
			if len(r.Kills) == 0 || ssh == 0 || sessions == 0 && o.Kind != sftpserver.AsyncSSH {
				t.Error("it was too easy")
			}
			p.atRest()
		})
	}
}

// harm now and then kills, by turns, one ssh or one session, until the contest is over.
func (p *place) harm(c *contest.Contest, over <-chan struct{}) (ssh, sessions int) {
	for turn := 0; c.More(p.t, over, 3); turn++ {
		time.Sleep(rand.N(100 * time.Millisecond)) // so that the kill comes in the middle of some helper's work
		if turn%2 == 0 {
			ssh += kill(p.sshPIDs())
		} else {
			sessions += kill(p.server.Sessions())
		}
	}
	return ssh, sessions
}

// sshPIDs returns the ids of the ssh processes of all helpers at this server.
func (p *place) sshPIDs() (all []int) {
	_, port, _ := net.SplitHostPort(p.server.Addr)
	for _, helper := range sftpserver.Children(os.Getpid()) {
		all = append(all, slices.DeleteFunc(sftpserver.Children(helper), func(pid int) bool {
			argv, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
			return !bytes.HasPrefix(argv, []byte("ssh\x00")) || !bytes.Contains(argv, []byte("\x00"+port+"\x00"))
		})...)
	}
	return all
}

// kill kills one of the processes, if there are any, and returns how many it killed.
func kill(pids []int) int {
	if len(pids) > 0 && syscall.Kill(pids[rand.IntN(len(pids))], syscall.SIGKILL) == nil {
		return 1
	}
	return 0
}
