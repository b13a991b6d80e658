package protocol

import "time"

// StopAfter returns for how long a holder with this lease may go on after the last proof that the
// lock is still its own: three quarters of the lease. The helper counts from when it sent the last
// request that succeeded, and says LOST then. A parent that asked for heartbeats counts from when
// the last one was sent. Others begin when the whole lease is over, so a quarter of it is left to
// stop in. The pages beside this file state the rule (README.md, "A parent"; HELPERS.md, 7.).
func StopAfter(lease time.Duration) time.Duration { return lease * 3 / 4 }
