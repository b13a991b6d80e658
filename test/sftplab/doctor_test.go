//go:build linux

package sftplab

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"locksmith/protocol"
	"locksmith/test/lab"
	"locksmith/test/sftpserver"
)

// A verdict is what doctor must say about locks of a style at a server.
type verdict struct {
	style   string
	finding string // of the one check that is not fit; "" if all are fit
	check   string
	says    string // words of that check's text or advice; an unfit lock is refused with the same words
	seldom  bool   // only with -long: each time 32 processes log in
}

// TestDoctor: doctor says what it must about each server, and a lock there succeeds or is refused
// accordingly.
func TestDoctor(t *testing.T) {
	t.Parallel()
	plain, dir := verdict{style: "plain", seldom: true}, verdict{style: "dir", seldom: true}
	noOverwrite := func(style string) verdict {
		return verdict{style, "weak", "rename onto an empty one", "rename onto empty directories", true}
	}
	for name, c := range map[string]struct {
		o        sftpserver.Options
		verdicts []verdict
	}{
		"OpenSSH":         {sftpserver.Options{}, []verdict{{}, plain, dir}},
		"OpenSSH, chroot": {sftpserver.Options{Chroot: true}, []verdict{{}, plain, dir}},
		"OpenSSH, few":    {sftpserver.Options{MaxStartups: 2}, []verdict{{"", "weak", "connections", "MaxStartups", false}}},
		"asyncssh":        {sftpserver.Options{Kind: sftpserver.AsyncSSH}, []verdict{{}, plain, dir}},
		"ProFTPD": {sftpserver.Options{Kind: sftpserver.ProFTPD}, []verdict{
			{"", "unfit", "lock directory", "?style=dir", false}, plain, {style: "dir"}}},
		"pkg-sftp": {sftpserver.Options{Kind: sftpserver.PkgSFTP}, []verdict{
			{"", "weak", "remove locks", "on the server's own disk", false}, noOverwrite("plain"), noOverwrite("dir")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, c.o)
			for _, v := range c.verdicts {
				if *long || !v.seldom {
					v.mustBe(p)
				}
			}
		})
	}
}

// mustBe asks doctor, takes a lock if that is possible, and asks doctor again, now that the lock
// exists.
func (v verdict) mustBe(p *place) {
	t := p.t
	t.Helper()
	address := p.server.Address("lock" + v.style)
	if v.style != "" {
		address += "?style=" + v.style
	}
	v.mustBeSaid(p, address)
	status, said := lab.Run(t, p.locksmith("run", "--timeout", "0", address, "--", "true"))
	if v.finding != "unfit" {
		if status != 0 {
			t.Errorf("run %s: %d: %s", address, status, said)
		}
		if *long {
			v.mustBeSaid(p, address)
		}
		return
	}
	if status != protocol.CannotCreate.Exit() || !strings.Contains(said, v.says) {
		t.Errorf("run %s: %d: %s", address, status, said)
	}
	if left, err := os.ReadDir(p.server.Home); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// examining is held by the test that runs doctor, whose 32 processes log in at once.
var examining sync.Mutex

func (v verdict) mustBeSaid(p *place, address string) {
	t := p.t
	t.Helper()
	examining.Lock()
	status, out := lab.Run(t, p.locksmith("doctor", "--json", address))
	examining.Unlock()
	type check struct{ Name, Finding, Text, Advice string }
	var all struct{ Places []struct{ Checks []check } }
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all.Places) != 1 {
		t.Fatalf("doctor %s: %d, %v\n%s", address, status, err, out)
	}
	var found []check
	for _, c := range all.Places[0].Checks {
		tooBusy := c.Name == "connections" && strings.Contains(c.Text, "has not answered within") // this machine is too busy
		if c.Finding != "fit" && !tooBusy {
			found = append(found, c)
		}
	}
	switch {
	case v.finding == "" && len(found) == 0 && len(all.Places[0].Checks) > 8:
	case len(found) == 1 && v.finding == found[0].Finding && v.check == found[0].Name && strings.Contains(found[0].Text+found[0].Advice, v.says):
	default:
		t.Errorf("doctor %s: exit status %d: not fit of %d checks: %+v", address, status, len(all.Places[0].Checks), found)
	}
	if unfit := status == protocol.CannotCreate.Exit(); unfit != (v.finding == "unfit") {
		t.Errorf("doctor %s: exit status %d, want finding %q", address, status, v.finding)
	}
}
