// Package filesystem tells what the file system under a directory is like, for
// the doctors of all backends on file systems. What is bad for one kind of lock is
// harmless for another: Needs says so.
package filesystem
