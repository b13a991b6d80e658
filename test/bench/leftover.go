package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

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
