// Package flags has the values of flags that commands share, each with its checks. Package
// request has what commands find by them. Nothing here knows of a command.
package flags

import "fmt"

// A UsageError is a command line that makes no sense.
type UsageError struct {
	error
	Command string // whose help tells more, such as "run"; "": not known
}

func (e UsageError) Unwrap() error { return e.error }

// Usage makes an error that of a command line that makes no sense.
func Usage(err error) error { return UsageError{error: err} }

// Usagef is Usage of a text, as fmt.Errorf formats it.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }
