//go:build linux

package sftplab

import (
	"testing"

	"locksmith/test/lab/outage"
	"locksmith/test/sftpserver"
)

// TestOutage: the server stands still, or is started anew. When it goes on after standing still,
// it executes what it was asked before, even for helpers that have given up.
func TestOutage(t *testing.T) {
	t.Parallel()
	kinds := map[string]sftpserver.Options{"OpenSSH": {}}
	if *long {
		kinds["asyncssh"], kinds["pkg-sftp"] = sftpserver.Options{Kind: sftpserver.AsyncSSH}, sftpserver.Options{Kind: sftpserver.PkgSFTP}
	}
	for name, o := range kinds {
		for what, scenario := range map[string]func(*place){
			"stands still": func(p *place) { p.outage(p.server.Pause, p.server.Resume).BackInTime(p.t) },
			"started anew": func(p *place) { p.outage(p.server.Stop, p.server.Restart).BackInTime(p.t) },
			"too late":     func(p *place) { p.outage(p.server.Pause, p.server.Resume).BackTooLate(p.t) },
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				p := start(t, o)
				scenario(p)
				p.atRest()
			})
		}
	}
}

func (p *place) outage(stop, restart func()) outage.Outage {
	return outage.Outage{Hold: p.hold, Stop: stop, Restart: restart, Holder: p.holder}
}
