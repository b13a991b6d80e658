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

// An Edit changes one statement, wherever it is in its function and however it is written.
type Edit struct {
	Package string // its directory, from the module's root
	// In is the function: "remove", or "Lock.remove" for a method, also of a pointer. There are two
	// more: "type T" adds the field New to the struct T, and "import" adds the import New to the
	// file of the function Mark.
	In string
	// Mark names the statement, or the clause of a switch: the comment //rule:MARK, which the
	// function has once, stands before it.
	Mark string
	// New takes the statement's place. In it $old is the statement as it was, and $body what is
	// between its braces or, of a clause, after its colon. If New is empty, the statement goes.
	New string
}

// Write writes into dir the changed files and the list of them that -overlay wants, and returns
// the list's path. The edits of one file are made one after the other. An edit whose function or
// mark is not there any more is an error.
func Write(dir string, edits []Edit) (list string, err error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	changed, err := apply(root, edits)
	if err != nil {
		return "", err
	}
	return WriteFiles(dir, changed)
}

// WriteFiles is Write for files that are replaced as a whole: changed has their new texts by their
// paths.
func WriteFiles(dir string, changed map[string]string) (list string, err error) {
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
		path, text, err := e.apply(root, changed)
		if err != nil {
			return nil, fmt.Errorf("an edit does not apply any more: %s: %s, mark %q: %w", e.Package, e.In, e.Mark, err)
		}
		changed[path] = text
	}
	return changed, nil
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
