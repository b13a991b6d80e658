package client

import "locksmith/protocol"

// A Code says in one word why a lock is not held: the field Code of errors.
type Code = protocol.Code

// The codes are here, too, so that nobody needs another package to tell errors apart.
const (
	CodeUsage        = protocol.Usage        // the request makes no sense
	CodeUnreachable  = protocol.Unreachable  // the lock's place cannot be reached now
	CodeInternal     = protocol.Internal     // a fault of the helper or its system; or it died
	CodeCannotCreate = protocol.CannotCreate // the place is not fit for this lock
	CodeHeld         = protocol.Held         // another holder has it
	CodeTimeout      = protocol.Timeout      // it was held for all the time given
	CodeCancelled    = protocol.Cancelled    // it was not wanted any more
	CodePermission   = protocol.Permission   // not allowed
	CodeConfig       = protocol.Config       // a profile is wrong, or missing
	CodeGone         = protocol.Gone         // a loss: others removed it
	CodeExpired      = protocol.Expired      // a loss: the lease ran out unconfirmed
	CodeUnreleased   = protocol.Unreleased   // a loss: it could not be removed
	CodeMaxHold      = protocol.MaxHold      // a loss: it was held for as long as it may be
)

// A Holder is who holds a lock, as far as it is known.
type Holder = protocol.Holder
