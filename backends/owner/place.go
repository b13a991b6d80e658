package owner

import "sync"

// A Place names one running kernel as one container sees it. Two processes in
// equal, complete places can look at each other through /proc, or on Windows by their
// pids.
type Place struct {
	Host    string // host name
	Machine string // machine-id(5), empty if there is none
	Boot    string // random, new at every boot (random(4), boot_id)
	PIDNS   string // pid namespace, like "pid:[4026531836]"
	TimeNS  string // time namespace; start times are shifted by it (time_namespaces(7))
}

// Here returns the place of this process, as it was when that was first asked. What
// cannot be read stays empty, which turns proof of death off.
func Here() Place { return here() }

var here = sync.OnceValue(look)

// sees reports that processes of q are visible in p.
func (p Place) sees(q Place) bool {
	return p == q && p.Host != "" && p.Machine != "" && p.Boot != "" && p.PIDNS != ""
}

// RebootedSince reports that q is this machine before its last boot. It holds
// where a disk belongs to one machine; for a shared directory it proves
// nothing, because clones may share both names.
func (p Place) RebootedSince(q Place) bool {
	return p.Machine != "" && p.Machine == q.Machine && p.Host == q.Host &&
		p.Boot != "" && q.Boot != "" && p.Boot != q.Boot
}
