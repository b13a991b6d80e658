package programs

import "errors"

// Become fails: on Windows one program cannot become another. A child would be one process more
// between the program and the parent of this process, and its death would mean nothing to
// either.
func Become(string, []string) error {
	return errors.New("on windows one program cannot become another: start that one itself")
}
