// Package process asks the kernel about processes: when one started, whether
// it is gone, and, on Linux and Windows without polling, when it goes.
//
// A process is named by its pid and its start time together, because pids are
// used again. The answer "gone" is proof: the process runs no instruction any
// more. Everything unclear (no /proc, no permission) counts as not gone.
package process
