package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// noneLeft fails if one of locksmith's locks was not removed at its release.
func (b *bench) noneLeft(lock string) error {
	text, err := os.ReadFile(b.path(lock))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("lock %s was left behind (%v): %s", lock, err, text)
}
