//go:build unix

package ftp

import "syscall"

// dontWait opens a FIFO at once, and no terminal as ours.
const dontWait = syscall.O_NONBLOCK | syscall.O_NOCTTY
