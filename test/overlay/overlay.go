// Package overlay builds programs from sources that are changed for one build (go build
// -overlay), to see whether a test notices the change. Nothing in the source tree is changed. A
// build takes longer than the test of one change, so many changes can share one program
// (WriteVariants).
package overlay

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// An Edit replaces a text that the file has exactly once. The file's path starts at the module's
// root.
type Edit struct{ File, Old, New string }

// Write writes into dir the changed files and the list of them that -overlay wants, and returns
// the list's path. The edits of one file are made one after the other. An edit that does not
// apply any more is an error.
func Write(dir string, edits []Edit) (list string, err error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	changed, err := apply(root, edits)
	if err != nil {
		return "", err
	}
	replace := map[string]string{} // by the original's path
	for path, text := range changed {
		replace[path] = filepath.Join(dir, fmt.Sprint(len(replace), filepath.Base(path)))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return writeList(dir, replace)
}

// apply returns the texts of the changed files, by their paths.
func apply(root string, edits []Edit) (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(root, e.File)
		if _, again := changed[path]; !again {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			changed[path] = string(text)
		}
		text, err := e.apply(changed[path])
		if err != nil {
			return nil, err
		}
		changed[path] = text
	}
	return changed, nil
}

func (e Edit) apply(text string) (string, error) {
	if n := strings.Count(text, e.Old); n != 1 {
		return "", fmt.Errorf("an edit does not apply any more: this is %d times in %s, not once:\n%s", n, e.File, e.Old)
	}
	return strings.Replace(text, e.Old, e.New, 1), nil
}

// writeList writes the list that -overlay wants: which file replaces which.
func writeList(dir string, replace map[string]string) (list string, err error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o600)
}

// Root is the module's directory.
func Root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
}
