//go:build !linux

package programs

import "os"

// isFile reports whether there is a regular file at a path.
func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
