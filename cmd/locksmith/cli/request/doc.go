// Package request has what commands share between the command line and the lock: groups of
// flags, each with its checks, and what the flags and the profiles make. That is a lock that can
// be asked (Named), or a helper that can be run (Options). A command declares the group that it
// takes, and calls it. Nothing here knows of a command.
package request
