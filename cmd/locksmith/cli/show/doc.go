// Package show is how people and programs see locks: the lines and the JSON of all commands, and
// the line that tells a waiter who has the lock. Nothing here looks at a lock or decides an exit
// status. What others wrote, in records and in names of files, moves no cursor.
package show

import "locksmith/protocol"

// Text is what others wrote, made safe for a line for people.
func Text(s string) string { return protocol.CleanText(s, protocol.MaxLine) }
