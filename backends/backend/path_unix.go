//go:build unix

package backend

// slashed returns a path of this system as it stands in an address.
func slashed(path string) string { return path }
