package backend

import "path/filepath"

// slashed returns a path of this system as it stands in an address: "/C:/locks/a" for
// "C:\\locks\\a".
func slashed(path string) string {
	if filepath.IsAbs(path) {
		path = "/" + path
	}
	return filepath.ToSlash(path)
}
