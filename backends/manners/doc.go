// Package manners is how often a waiter asks, where nothing wakes it: a few quick
// polls for locks that are held for a moment, then a pause that grows with each
// round, so that a crowd of waiters does not wear down a server, and shrinks again,
// so that nobody asks seldom for ever.
//
// The numbers are those of the Tcl original: 16 polls 25 to 100 ms apart, at random
// so that waiters who came together do not stay together; then a pause of 2 s, the
// next time of 4 s, and so on to 32 s and back to 2 s.
package manners
