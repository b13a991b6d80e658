//go:build unix

package link

import (
	"time"

	"locksmith/backends/backend"
)

// The times of the Tcl original, and of the tools that it lived with.
const (
	usualLease   = time.Hour
	usualRespite = 30 * time.Minute
	usualRefresh = 8 * time.Second
)

// Manners implements backend.Paced.
func (l *Lock) Manners() backend.Manners {
	return backend.Manners{Lease: usualLease, Respite: usualRespite, Refresh: usualRefresh}
}

// minWatch is how long an old file must at least be watched: a holder that lives
// refreshes it several times meanwhile.
const minWatch = 4 * usualRefresh

// graceByAge is how long to watch a file that is older than its lease.
func graceByAge(asked time.Duration, c content) time.Duration {
	if asked == 0 {
		asked = usualRespite
	}
	least := minWatch
	if r := c.Record; r != nil { // --refresh may have asked for a slower pace
		least = max(least, min(4*r.Refresh, r.Lease))
	}
	return max(asked, least)
}
