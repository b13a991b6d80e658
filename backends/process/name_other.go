//go:build !linux

package process

// Name is what the process that has this pid is called: here that is not known.
func Name(int) string { return "" }

// Owner is the user of the process that has this pid: here it is not known.
func Owner(int) (uid int, known bool) { return 0, false }

// Arguments are those of the process that has this pid: here they are not known.
func Arguments(int) []string { return nil }
