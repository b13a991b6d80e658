package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
)

// A rival is one way to have a lock, ours or others'. A way of using it that it does
// not have is nil.
type rival struct {
	name    string
	missing bool // it is not installed here
	sleeps  bool // for seconds, between two tries
	slow    bool // to start
	forks   bool // while it waits, so that the kernel cannot tell what time it uses for what
	// left fails if a lock is there after its release. Only ours has it.
	left func(lock string) error
	// run is a command under the lock, and hold one that says OK under it and stays
	// until its standard input ends.
	run  func(lock string, command ...string) []string
	hold func(lock string) []string
	// loop counts under the lock, as scripts/loop.sh says.
	loop func(lock string) []string
}

// okAndStay is what holds a lock for tools that want a command.
var okAndStay = []string{"sh", "-c", "echo OK; exec cat"}

// tool is a rival that runs commands under a lock.
func tool(name string, run func(lock string, command ...string) []string) rival {
	return rival{name: name, run: run, hold: func(lock string) []string { return run(lock, okAndStay...) }}
}

// needing marks a rival as missing if one of its programs is not installed.
func (r rival) needing(programs ...string) rival {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			r.missing = true
		}
	}
	return r
}

func (r rival) sleeping() rival {
	r.sleeps = true
	return r
}

// isOurs is whether it must not fail.
func (r rival) isOurs() bool { return r.left != nil }

// present returns the rivals that are installed.
func present(rivals []rival) []rival {
	var here []rival
	for _, r := range rivals {
		if !r.missing {
			here = append(here, r)
		}
	}
	return here
}

// lockName is a rival's own.
func lockName(what string, rival int) string { return fmt.Sprintf("%s-%d", what, rival) }

// nothingLeft fails if a lock of ours was not removed at its release.
func (b *bench) nothingLeft(what string, rivals []rival) error {
	for i, r := range rivals {
		if err := r.noneLeft(b.path(lockName(what, i))); err != nil {
			return err
		}
	}
	return nil
}

func (r rival) noneLeft(lock string) error {
	if r.left == nil {
		return nil
	}
	return r.left(lock)
}

// noReservations fails if an nfs: lock still has reservations.
func noReservations(lock string) error {
	left, err := os.ReadDir(lock + "/R")
	if err != nil || len(left) > 0 {
		return fmt.Errorf("lock %s was left behind (%v): %v", lock, err, left)
	}
	return nil
}

// noFile fails if a local: lock is there.
func noFile(lock string) error {
	text, err := os.ReadFile(lock)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("lock %s was left behind (%v): %s", lock, err, text)
}
