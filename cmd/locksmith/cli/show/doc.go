// Package show is how people and programs see locks: the lines and the JSON of all commands, and
// the line that tells who has the lock one waits for. Nothing here looks at a lock or decides
// an exit status. What others wrote, as in records and the names of files, moves no cursor.
package show

import "locksmith/protocol"

// Text is what others wrote, as it may stand in a line for people.
func Text(s string) string { return protocol.CleanText(s, protocol.MaxLine) }
