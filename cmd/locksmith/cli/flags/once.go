package flags

import (
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// Once is the rule of --once-per for a helper, without what tells a success, or why its lock
// cannot have one.
func Once(h *locksmith.Helper, per time.Duration) (*locksmith.Once, error) {
	keeper, keeps := h.Locker.(backend.SuccessKeeper)
	cause, hint := "", ""
	switch {
	case h.Locks != nil:
		cause, hint = "it is for one lock, not for several", "run it again inside, for the lock that stands for the work"
	case !keeps:
		cause, hint = "this kind of lock keeps nothing while it is free", "use local:, nfs:, or for mkdir: and ftp: ?style=dir"
	case h.Request.Owner.Mode == sharedMode:
		cause, hint = "who shares a lock does not do the work alone", "leave out --shared"
	default:
		return &locksmith.Once{Per: per, Keeper: keeper}, nil
	}
	return nil, &backend.Error{Code: protocol.Usage, Lock: h.Address, Op: "--once-per", Err: errors.New(cause), Hint: hint}
}
