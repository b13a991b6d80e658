// Package flags has what commands share between the command line and the lock: values and
// groups of flags, each with its checks, and what they and the profiles make: a lock that
// can be asked (Connect, File), a helper that can be run (Options). A command declares the
// groups it takes and calls them; nothing here knows of a command.
package flags

import "fmt"

// A UsageError is a command line that makes no sense.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usage makes an error that of a command line that makes no sense.
func Usage(err error) error { return UsageError{err} }

// Usagef is Usage of a text, as fmt.Errorf formats it.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }
