package request

import (
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/shelf"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// Once is a helper's rule by --once-per, or if that is locksmith.Forever, by a profile; nil:
// there is no rule. It lacks what tells a success. The error says why the lock cannot have a
// rule.
func Once(h *locksmith.Helper, per time.Duration, targets []*Target) (*locksmith.Once, error) {
	if per != locksmith.Forever {
		return once(h, per)
	}
	for _, t := range targets {
		if t.OncePer == nil {
			continue
		}
		o, err := once(h, *t.OncePer)
		if err != nil {
			err = t.Wrong(err)
		}
		return o, err
	}
	return nil, nil
}

func once(h *locksmith.Helper, per time.Duration) (*locksmith.Once, error) {
	keeper, keeps := h.Locker.(shelf.Keeper)
	cause, hint := "", ""
	switch {
	case per == 0:
		cause, hint = "it is no time at all", "leave it out"
	case h.Locks != nil:
		cause, hint = "it is for one lock, not for several", "run it again inside, for the lock that stands for the work"
	case !keeps:
		cause, hint = "this kind of lock keeps nothing while it is free", "use nfs:, sftp:, s3:, etcd:, local:, flock:, or for mkdir: and ftp: ?style=dir"
	case h.Request.Owner.Mode == sharedMode:
		cause, hint = "others may do the work, too, if the lock is shared", "leave out --shared"
	default:
		return &locksmith.Once{Per: per, Keeper: keeper}, nil
	}
	return nil, &backend.Error{Code: protocol.Usage, Lock: h.Address, Op: "once per", Err: errors.New(cause), Hint: hint}
}
