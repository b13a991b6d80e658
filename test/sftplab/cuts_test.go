//go:build linux

package sftplab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/nfs"
	"locksmith/backends/sftp"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
	"locksmith/test/lab/lifecycle"
	"locksmith/test/sftpserver"
)

// TestCuts: the connection is cut at each packet of a lock's life in turn, before the packet
// arrives, or after it was executed and before its answer arrives. The lock is then had or not
// had, never by two, and goes on being held. The next process, which has the server's disk, gets
// the lock at once, and nothing is left behind.
func TestCuts(t *testing.T) {
	t.Parallel()
	t.Run("sftp-server", func(t *testing.T) {
		t.Parallel()
		lab.NotShort(t, "starts SFTP servers")
		const program = "/usr/lib/openssh/sftp-server"
		if _, err := os.Stat(program); err != nil {
			lab.Lacking(t, "openssh-sftp-server is missing")
		}
		dir := t.TempDir()
		script := filepath.Join(t.TempDir(), "ssh")
		if err := os.WriteFile(script, []byte("#!/bin/sh\ncd "+dir+" && exec "+program+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		cutEverywhere(t, way{backend.Address{Scheme: sftp.Scheme, Host: "h"}, script, dir})
	})
	if !*long {
		return
	}
	for name, o := range map[string]sftpserver.Options{"OpenSSH": {}, "chroot": {Chroot: true},
		"asyncssh": {Kind: sftpserver.AsyncSSH}, "pkg-sftp": {Kind: sftpserver.PkgSFTP}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sftpserver.Start(t, o)
			cutEverywhere(t, way{backend.Address{Scheme: sftp.Scheme, User: s.User, Host: s.Addr}, s.SSH, s.Home})
		})
	}
}

// A way leads to a server.
type way struct {
	address backend.Address // without a path
	ssh     string
	dir     string // on this disk
}

func cutEverywhere(t *testing.T, w way) {
	whole := cut{dir: t.TempDir()}
	w.live(t, whole, "whole")
	if whole.packets() < 20 {
		t.Fatalf("a life has %d packets", whole.packets())
	}
	for packet := 1; packet <= whole.packets(); packet++ {
		for _, after := range []bool{false, true} {
			name := fmt.Sprintf("packet-%d-%t", packet, after)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w.live(t, cut{t.TempDir(), packet, after}, name)
			})
		}
	}
}

// live goes through the life of a new lock.
func (w way) live(t *testing.T, c cut, name string) {
	t.Helper()
	w.address.Path = "/" + name
	dir := filepath.Join(w.dir, name)
	near, err := nfs.Open(backend.Address{Scheme: nfs.Scheme, Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	life := lifecycle.Life{Rival: near, Open: func() backend.Backend {
		b, err := sftp.Open(w.address, backend.Access{SSH: c.ssh(t, w.ssh)})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}}
	acquired, broken := life.Whole()
	switch {
	case broken != nil:
		t.Error(broken)
	case acquired != nil && !lifecycle.IsClear(acquired):
		t.Errorf("not acquired: %v", acquired)
	case acquired != nil:
		t.Logf("not acquired: %v", acquired)
	}
	a, err := near.Attempt(backendtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatalf("afterwards: %v; there are %q", err, backendtest.GenerationLeftovers(dir))
	}
	backendtest.MustRelease(t, h)
	for _, left := range backendtest.GenerationLeftovers(dir) {
		// A record that is left alone is removed only by a holder that tends the lock after the
		// record's owner, here this process, is dead. For names in d.0- see atRest.
		if name := filepath.Base(left); !strings.HasPrefix(name, "i.") && !strings.HasPrefix(name, "d.0-") {
			t.Errorf("left: %s", left)
		}
	}
}
