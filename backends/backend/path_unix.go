//go:build unix

package backend

// slashed is a path of this system as it is in an address.
func slashed(path string) string { return path }
