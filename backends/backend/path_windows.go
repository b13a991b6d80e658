package backend

import "path/filepath"

// slashed is a path of this system as it is in an address: "C:\\locks\\a" is
// "/C:/locks/a".
func slashed(path string) string {
	if filepath.IsAbs(path) {
		path = "/" + path
	}
	return filepath.ToSlash(path)
}
