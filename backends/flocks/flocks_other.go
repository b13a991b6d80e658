//go:build !linux

package flocks

import "errors"

// Look is for Linux alone.
func Look(string) (Seen, error) { return Seen{}, errors.ErrUnsupported }

// Snapshot is for Linux alone.
func Snapshot() func(string) (Seen, error) { return Look }
