// Package overlay builds programs from sources that are changed for one build (go build
// -overlay), to see whether a test finds out. Nothing in the source tree is changed.
package overlay

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// An Edit replaces a piece of a file that is there exactly once. The file is named from the
// module's root.
type Edit struct{ File, Old, New string }

// Write writes the changed files into dir, and the list of them that -overlay wants, whose
// path it returns. The edits of one file are made one after the other. It is an error if an
// edit does not apply any more.
func Write(dir string, edits []Edit) (list string, err error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	replace := map[string]string{} // by the original's path
	for _, e := range edits {
		if err := e.write(root, dir, replace); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o600)
}

func (e Edit) write(root, dir string, replace map[string]string) error {
	path := filepath.Join(root, e.File)
	changed, again := replace[path]
	if !again {
		changed = filepath.Join(dir, fmt.Sprint(len(replace), filepath.Base(path)))
		replace[path] = changed
	}
	from := path
	if again {
		from = changed
	}
	source, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if n := strings.Count(string(source), e.Old); n != 1 {
		return fmt.Errorf("an edit does not apply any more: this is %d times in %s, not once:\n%s", n, e.File, e.Old)
	}
	return os.WriteFile(changed, []byte(strings.Replace(string(source), e.Old, e.New, 1)), 0o600)
}

// Root is the module's directory.
func Root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
}
