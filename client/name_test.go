package client

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLockName: however a file is named, it has one lock.
func TestLockName(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	link := func(target, name string) {
		if err := os.Symlink(target, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(in("data/deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data/phones", "data/50% off?"} {
		if err := os.WriteFile(in(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link("data", "alias")
	link("phones", "data/list")
	link("data/phones", "far")
	link(in("data/new"), "data/deep/dangling")
	link("deep/dangling", "data/twice")
	link("circle", "circle")
	link("data/deep", "shortcut")
	link("../shortcut/../late", "data/winding")
	t.Chdir(in("data/deep"))

	for name, want := range map[string]string{
		"../phones":        "link:" + in("data/.phones.lock"),
		"../list":          "link:" + in("data/.phones.lock"),
		in("alias/phones"): "link:" + in("data/.phones.lock"),
		in("far"):          "link:" + in("data/.phones.lock"),
		in("data//phones"): "link:" + in("data/.phones.lock"),
		in("alias/"):       "link:" + in(".data.lock"),
		".":                "link:" + in("data/.deep.lock"),
		"new":              "link:" + in("data/deep/.new.lock"),
		"dangling":         "link:" + in("data/.new.lock"),
		"../twice":         "link:" + in("data/.new.lock"),
		// The directory above the link's target, not above the link.
		dir + "/shortcut/../phones": "link:" + in("data/.phones.lock"),
		dir + "/shortcut/../fresh":  "link:" + in("data/.fresh.lock"),
		"../winding":                "link:" + in("data/.late.lock"),
		"../50% off?":               "link:" + in("data/.50%25 off%3F.lock"),
	} {
		if got, err := LockName("link", name, ""); got != want || err != nil {
			t.Errorf("LockName of %q is %q, %v; want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"":              "no sense: the name is empty",
		"/":             "no sense: the root",
		in("circle"):    "too many",
		in("no/where"):  "no such file",
		in("far/below"): "not a directory",
	} {
		if got, err := LockName("link", name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("LockName of %q is %q, %v; want the error of this table", name, got, err)
		}
	}
}

// TestLockNameSuffix: the lock is beside the file, with a suffix that other tools use.
func TestLockNameSuffix(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := LockName("link", filepath.Join(dir, "phones"), ".lck"); got != "link:"+filepath.Join(dir, "phones.lck") || err != nil {
		t.Errorf("LockName returns %q, %v", got, err)
	}
	for _, suffix := range []string{"/lck", "\x00"} {
		if got, err := LockName("link", filepath.Join(dir, "phones"), suffix); !errors.Is(err, ErrUsage) {
			t.Errorf("LockName takes the suffix %q: %q, %v", suffix, got, err)
		}
	}
}
