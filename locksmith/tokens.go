package locksmith

import (
	"context"

	"locksmith/protocol"
)

// tellRestarts warns of each fencing token that is smaller than one that this user had before: the
// lock's tokens have started again, and what it guards may refuse them. The client works by then, so
// it need not wait for that, nor does it end for it. What is known only when the lease is over proves
// nothing, as others may have had the lock meanwhile.
func (s *session) tellRestarts(g protocol.Grant) {
	h := s.helper
	if h.KnownToken == nil || g.TokenText() == "" {
		return
	}
	locks, tokens := h.Locks, g.Tokens
	if locks == nil {
		locks, tokens = []Lock{{h.Address, g.Mode}}, []uint64{g.Token}
	}
	before, files := make([]uint64, len(locks)), make([]string, len(locks))
	err := bounded(s.clock(), min(rememberTime, s.every/2), func(context.Context) error {
		for i, l := range locks {
			before[i], files[i] = h.knownToken(l, tokens[i])
		}
		return nil
	})
	if err != nil {
		h.leaveBehind()
		h.Log.Debug("fencing tokens are not compared with earlier ones", "lock", h.Address, "error", err)
		return
	}
	if s.checkLease(nil) != nil {
		return
	}
	for i, l := range locks {
		if tokens[i] < before[i] {
			h.Log.Warn("fencing tokens have started again below one that this user had, so what the lock guards may refuse them: "+
				"let it accept them, then remove the file that remembers the greater one",
				"lock", l.Address, "token", tokens[i], "greater", before[i], "file", files[i])
		}
	}
}

// knownToken returns a token of an earlier helper, and remembers this one. Of those who share a lock
// one may have a smaller token than another who came later, so theirs are not remembered.
func (h *Helper) knownToken(l Lock, token uint64) (before uint64, file string) {
	if token == 0 {
		return 0, ""
	}
	before, file, err := h.KnownToken(l.Address, token, l.Mode == "exclusive")
	if err != nil {
		h.Log.Debug("the fencing token is not remembered", "lock", l.Address, "error", err)
	}
	return before, file
}
