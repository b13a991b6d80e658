// Package flags has the values of flags that commands share, each with its checks. Package
// request has what commands find by them. Nothing here knows of a command.
package flags

import "fmt"

// A UsageError is a command line that makes no sense.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usage makes an error that of a command line that makes no sense.
func Usage(err error) error { return UsageError{err} }

// Usagef is Usage of a text, as fmt.Errorf formats it.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }
