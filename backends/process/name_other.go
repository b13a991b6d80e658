//go:build !linux

package process

// Name is what the process that has this pid is called: here that is not known.
func Name(int) string { return "" }

// Arguments are those of the process that has this pid: here they are not known.
func Arguments(int) []string { return nil }
