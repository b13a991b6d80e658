//go:build unix

// Package posix is what the backends on file systems have in common: calls that a
// signal may interrupt, a listing that is not from a cache, waiting for something to
// be removed, and directories that those may use who may use the one beside them.
package posix
