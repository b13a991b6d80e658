// Package finder walks a tree of directories for locks. What a lock looks like its
// backend knows: it is asked about each file and directory, as a FileKind or a
// DirectoryKind.
//
// A walk keeps the names of one directory and of those above it, and nothing else.
// What changes meanwhile may be missed or be told as it was.
package finder
