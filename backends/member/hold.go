package member

import "locksmith/backends/backend"

// Kept reports whether the system keeps a hold for its process (backend.KeptHold).
func Kept(h backend.Hold) bool {
	k, ok := h.(backend.KeptHold)
	return ok && k.Kept()
}

// Lend lends a hold's descriptors, if it has any.
func Lend(h backend.Hold) ([]int, error) {
	k, ok := h.(backend.KeptHold)
	if !ok {
		return nil, nil
	}
	return k.Lend()
}
