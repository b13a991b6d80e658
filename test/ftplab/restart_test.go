//go:build unix

package ftplab

import (
	"testing"

	"locksmith/test/ftpserver"
	"locksmith/test/lab/outage"
)

// restart: the server goes away while somebody has the lock and others wait.
func restart(t *testing.T, kind, style string) {
	t.Run("back in time", func(t *testing.T) {
		t.Parallel()
		p := start(t, kind, style, ftpserver.Options{})
		p.outage().BackInTime(t)
		p.atRest()
	})
	t.Run("too late", func(t *testing.T) {
		t.Parallel()
		p := start(t, kind, style, ftpserver.Options{})
		p.outage().BackTooLate(t)
		p.clean()
	})
}

func (p *place) outage() outage.Outage {
	return outage.Outage{Hold: p.hold, Stop: p.server.Stop, Restart: p.server.Restart, Holder: p.holder}
}
