//go:build unix

package s3lab

import (
	"fmt"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/lab/outage"
)

// outages: all gateways are killed while somebody has the lock and others wait.
func outages(t *testing.T, name string) {
	for about, test := range map[string]func(outage.Outage, *testing.T){"back in time": outage.Outage.BackInTime, "too late": outage.Outage.BackTooLate} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			p := openPlace(t, name)
			test(p.outage(t), t)
			p.next(t, about)
		})
	}
}

func (p place) outage(t *testing.T) outage.Outage {
	return outage.Outage{
		Hold: func(flags ...string) *lab.Helper { return p.hold(t, flags...) },
		Stop: func() {
			for _, s := range p.servers {
				s.Stop()
			}
		},
		Restart: func() {
			for _, s := range p.servers {
				s.Restart()
			}
		},
		Holder: func() string { return p.holder(t) },
	}
}

// hold starts a helper for the lock.
func (p place) hold(t *testing.T, flags ...string) *lab.Helper {
	t.Helper()
	return lab.Hold(t, locksmith(t, append(append([]string{"hold"}, flags...), p.address())...))
}

// holder returns the id of the only holder, or what there is instead.
func (p place) holder(t *testing.T) string {
	t.Helper()
	r, err := p.open(t).Read(t.Context())
	if err != nil || len(r.Holders) != 1 || r.Holders[0].Record == nil {
		return fmt.Sprintf("%+v, %v", r, err)
	}
	return r.Holders[0].Record.ID
}
