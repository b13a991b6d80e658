package machines

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/test/lab"
)

// TestFormats: a program for each processor writes what one for this processor writes, byte by byte
// but for what differs from moment to moment, and reads it: it passes test/formats.
func TestFormats(t *testing.T) {
	if !*long {
		t.Skip("compiles for other processors, and drives each kind of lock by qemu: only with -long")
	}
	rows := make([]string, len(processors))
	t.Run("all", func(t *testing.T) {
		for i, p := range processors {
			t.Run(p.name, func(t *testing.T) {
				if p.qemu != "" {
					lab.NeedProgram(t, p.qemu)
				}
				t.Parallel()
				written, read := p.formats(t)
				rows[i] = fmt.Sprintf("| %s | %s | %s | %s |\n", p.name, written, read, time.Now().Format("2006-01-02"))
			})
		}
	})
	if t.Failed() {
		return
	}
	lab.Publish(t, page, "Formats", "Written by `go test ./test/machines -run TestFormats -long -update`: programs for each processor passed\n"+
		"[test/formats](../formats/doc.go), whose golden files amd64 wrote. *Written* are the kinds of locks whose files, directories and\n"+
		"records were the same bytes, but for times, names and numbers of processes; *read* are those of which `status`\n"+
		"knew the holder that a helper on amd64 had written.\n\n"+
		"| processor | written | read | measured |\n| --- | --- | --- | --- |\n"+strings.Join(rows, ""), *update)
}

// formats runs test/formats with a program for the processor, and returns the kinds that passed.
func (p processor) formats(t *testing.T) (written, read string) {
	t.Helper()
	const kinds = "local|flock|nfs|mkdir|mkdir-dir|link|ftp|ftp-dir" // s3: has another program
	dir := t.TempDir()
	program := p.build(t, "locksmith", "build", "cmd/locksmith")
	text := "#!/bin/sh\nexec " + strings.Join(p.command(program).Args, " ") + ` "$@"` + "\n"
	for _, name := range []string{"locksmith", "locksmith-remote"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-count=1", "-v", "-vet=off", "-run", "^Test(Written|Read)$/^("+kinds+")$", "locksmith/test/formats")
	cmd.Env = append(os.Environ(), "LOCKSMITH_TEST_PROGRAMS="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	passed := func(test string) string {
		var all []string
		for _, m := range regexp.MustCompile(`(?m)--- PASS: `+test+`/(\S+)`).FindAllSubmatch(out, -1) {
			all = append(all, string(m[1]))
		}
		if len(all) < 4 {
			t.Errorf("only %q of %s\n%s", all, test, out)
		}
		return sorted(all)
	}
	return passed("TestWritten"), passed("TestRead")
}

// sorted puts names in order, because tests run side by side.
func sorted(names []string) string {
	slices.Sort(names)
	return strings.Join(names, ", ")
}
