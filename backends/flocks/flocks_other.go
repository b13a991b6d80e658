//go:build !unix

package flocks

import "errors"

// Look is for Unix alone.
func Look(string) (Seen, error) { return Seen{}, errors.ErrUnsupported }

// Glance is for Unix alone.
func Glance(string) (Seen, error) { return Seen{}, errors.ErrUnsupported }

// Snapshot is for Unix alone.
func Snapshot() func(string) (Seen, error) { return Look }
