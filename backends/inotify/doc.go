// Package inotify watches one path at a time with one inotify(7) instance.
//
// An instance is kept for as long as its owner may wait again, because to close
// one takes the kernel 8 to 24 ms: it lets all its readers of the watch lists
// pass first. Nobody waits for that here, and above all not a waiter whose lock
// has just become free.
package inotify
