package ftplab

import (
	"encoding/json"
	"fmt"
)

// A status is what locksmith status --json says of one lock.
type status struct {
	State   string
	Holders []struct{ ID, Host, Mode string }
	Waiters []struct{ ID, Host, Mode string }
}

// look asks for the status of the lock, without a proxy.
func (p *place) look() status {
	p.t.Helper()
	var all struct{ Locks []status }
	d := p.direct()
	out := d.must("status", "--json", d.address())
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all.Locks) != 1 {
		p.t.Fatalf("status: %v\n%s", err, out)
	}
	return all.Locks[0]
}

// holder returns the id of the only holder, or what there is instead.
func (p *place) holder() string {
	p.t.Helper()
	s := p.look()
	if len(s.Holders) != 1 {
		return fmt.Sprintf("%+v", s)
	}
	return s.Holders[0].ID
}

// queued waits until there are so many waiters.
func (p *place) queued(n int) {
	p.t.Helper()
	eventually(p.t, fmt.Sprintf("%d waiting", n), func() bool { return len(p.look().Waiters) == n })
}
