package locksmith

import "slices"

// A Lock is one of a set.
type Lock struct {
	Address string // canonical
	Mode    string // "exclusive" or "shared"
}

// addresses are those of a set in the order given.
func (h *Helper) addresses() []string {
	all := make([]string, len(h.Locks))
	for i, l := range h.Locks {
		all[i] = l.Address
	}
	return all
}

// modes are those of a set, if its locks have different ones.
func (h *Helper) modes() []string {
	if !slices.ContainsFunc(h.Locks, func(l Lock) bool { return l.Mode != h.Locks[0].Mode }) {
		return nil
	}
	all := make([]string, len(h.Locks))
	for i, l := range h.Locks {
		all[i] = l.Mode
	}
	return all
}
