//go:build linux

package sftplab

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"locksmith/test/lab"
)

// A cut ends the first connection of a lock's life at one of its packets.
type cut struct {
	dir    string // for notes
	packet int    // from 1; 0: never
	after  bool   // the packet is executed, and its answer is lost; else the packet does not arrive
}

const cutterRole = "cutter"

// The variables that tell a cutter what to do.
const cutDirVariable, cutPacketVariable, cutAfterVariable = "SFTPLAB_CUT_DIR", "SFTPLAB_CUT_PACKET", "SFTPLAB_CUT_AFTER"

// ssh returns a command for $LOCKSMITH_SSH that runs another ssh command and cuts its connection.
func (c cut) ssh(t *testing.T, ssh string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("env %s=%s %s=%s %s=%d %s=%t %s %s", lab.RoleVariable, cutterRole,
		cutDirVariable, c.dir, cutPacketVariable, c.packet, cutAfterVariable, c.after, self, ssh)
}

// packets returns how many packets were sent over the first connection.
func (c cut) packets() int {
	info, err := os.Stat(filepath.Join(c.dir, "packets"))
	if err != nil {
		return 0
	}
	return int(info.Size())
}

// cutter runs as the command that ssh returns.
func cutter() int {
	c := cut{dir: os.Getenv(cutDirVariable)}
	c.packet, _ = strconv.Atoi(os.Getenv(cutPacketVariable))
	c.after, _ = strconv.ParseBool(os.Getenv(cutAfterVariable))
	if err := c.run(exec.Command(os.Args[1], os.Args[2:]...)); err != nil {
		fmt.Fprintln(os.Stderr, "cutter:", err)
		return 1
	}
	return 0
}

func (c cut) run(ssh *exec.Cmd) error {
	notes, err := os.OpenFile(filepath.Join(c.dir, "packets"), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil { // this is not the first connection
		ssh.Stdin, ssh.Stdout, ssh.Stderr = os.Stdin, os.Stdout, os.Stderr
		return ssh.Run()
	}
	ssh.Stderr = os.Stderr
	in, err := ssh.StdinPipe()
	if err != nil {
		return err
	}
	out, err := ssh.StdoutPipe()
	if err != nil {
		return err
	}
	if err := ssh.Start(); err != nil {
		return err
	}
	var lost atomic.Uint64 // one more than the id of the request whose answer is lost
	go func() {
		for n := 1; ; n++ {
			p, err := readPacket(os.Stdin)
			if err != nil {
				_ = in.Close()
				return
			}
			_, _ = notes.Write([]byte{'.'})
			switch {
			case n == c.packet && !c.after:
				_ = ssh.Process.Kill()
				return
			case n == c.packet:
				lost.Store(uint64(id(p)) + 1)
			}
			_, _ = in.Write(p) // if ssh has ended, so does its output, which ends us
		}
	}()
	for {
		p, err := readPacket(out)
		if err != nil {
			return nil
		}
		if lost.Load() == uint64(id(p))+1 {
			return ssh.Process.Kill()
		}
		if _, err := os.Stdout.Write(p); err != nil {
			return err
		}
	}
}

// readPacket reads a packet with its length before it.
func readPacket(r io.Reader) ([]byte, error) {
	p := make([]byte, 4)
	if _, err := io.ReadFull(r, p); err != nil {
		return nil, err
	}
	p = append(p, make([]byte, binary.BigEndian.Uint32(p))...)
	_, err := io.ReadFull(r, p[4:])
	return p, err
}

// id returns the id that a request and its answer share. The greetings have in its place the
// version, which both share as well.
func id(packet []byte) uint32 { return binary.BigEndian.Uint32(packet[5:]) }
