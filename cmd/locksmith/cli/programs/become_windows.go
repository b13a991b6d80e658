package programs

import "errors"

// Become fails: on Windows one program cannot become another. Between a child and the
// parent of this process there would be one more whose death means nothing to either.
func Become(string, []string) error {
	return errors.New("on windows one program cannot become another: start that one itself")
}
