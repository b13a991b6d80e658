package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// noReservations fails if a lock directory still has reservations.
func (b *bench) noReservations(lock string) error {
	left, err := os.ReadDir(b.path(lock + "/R"))
	if err != nil || len(left) > 0 {
		return fmt.Errorf("lock %s was left behind (%v): %v", lock, err, left)
	}
	return nil
}

// noneLeft fails if one of locksmith's locks was not removed at its release.
func (b *bench) noneLeft(lock string) error {
	text, err := os.ReadFile(b.path(lock))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("lock %s was left behind (%v): %s", lock, err, text)
}
