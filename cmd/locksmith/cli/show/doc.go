// Package show is how people and programs see locks: the lines and the JSON of all commands, and
// the line at run and hold that tells who has the lock. Nothing here looks at a lock, or
// decides an exit status.
package show
