//go:build !linux

package memory

import "errors"

func load(string) (string, error) { return "", nil }
func save(string, string) error   { return errors.ErrUnsupported }
