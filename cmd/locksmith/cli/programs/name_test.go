package programs

import (
	"os"
	"path/filepath"
	"testing"

	"locksmith/test/lab"
)

// TestProgramName: of an interpreter's arguments only a script that exists is named.
func TestProgramName(t *testing.T) {
	script := filepath.Join(t.TempDir(), "billing.pl")
	if err := os.WriteFile(script, []byte("1;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lab.Eventually(t, "the kernel knows the file", func() bool { return isFile(script) }) // the kernel may have dropped it
	for _, c := range []struct {
		path string
		argv []string
		want string
	}{
		{"/usr/bin/perl", []string{"perl", script, "s3cret"}, "billing.pl"},
		{"python3.11", []string{"python3.11", script}, "billing.pl"},
		{"node", []string{"node", script}, "billing.pl"},
		{"tclsh8.6", []string{"tclsh", script}, "billing.pl"},
		{"perl", []string{"perl", "-w", script}, "perl"},
		{"sh", []string{"sh", "-c", "curl -u s3cret"}, "sh"},
		{"php", []string{"php", "s3cret"}, "php"},
		{"ruby", []string{"ruby", filepath.Dir(script)}, "ruby"},
		{"perl", []string{"perl", ""}, "perl"},
		{"perl", []string{"billing, password s3cret"}, "perl"},
		{"bash", nil, "bash"},
		{"/usr/bin/rsync", []string{"rsync", script}, "rsync"},
		{"perltidy", []string{"perltidy", script}, "perltidy"},
		{"", []string{"", script}, ""},
	} {
		if got := Name(c.path, func() []string { return c.argv }); got != c.want {
			t.Errorf("Name of %s with %q is %s, want %s", c.path, c.argv, got, c.want)
		}
	}
}
