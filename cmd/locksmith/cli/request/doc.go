// Package request has what commands share between the command line and the lock: groups of
// flags, each with its checks, and what they and the profiles make: a lock that can be asked
// (Named), a helper that can be run (Options). A command declares the group that it takes and
// calls it; nothing here knows of a command.
package request
