//go:build !linux

package doctor

import "errors"

var errUnknown = errors.New("it is not known how to ask this system")

func mountOf(string) (mount, error) { return mount{}, errUnknown }
func roomIn(string) (room, error)   { return room{}, errUnknown }

// Remote cannot tell network file systems here.
func Remote(string) (string, error) { return "", nil }
