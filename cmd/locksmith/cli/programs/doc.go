// Package programs is about programs other than this one. It knows nothing of locks.
//
// It tells who started this process: whether that one may do less than we, whether a process is
// among our ancestors, and how a record names a program.
//
// It finds programs that have kinds of locks which this one lacks, and becomes them. Then
// another program runs in this process, with the same pid, parent, arguments, environment and
// open files, so nobody who started this one notices. A program is looked for beside this one,
// and then on PATH, where "." does not count.
package programs
