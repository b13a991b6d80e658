// Package owner answers "who holds this lock, and is that holder dead?".
//
// A Record describes a holder; it is what a backend stores beside its lock. A
// holder is believed dead in two ways only, and everything unclear counts
// against death:
//
//   - by proof: it lived on this very kernel (same machine id, host name, boot
//     id, pid and time namespace), and its helper is gone, and so is its parent, or all
//     that inherited the lifeline of its command;
//   - by lease: somebody watched one heartbeat for a whole lease on its own
//     clock and saw no other (package watch).
//
// No time written by one machine is ever compared with the clock of another;
// the times in a record are for people.
package owner
