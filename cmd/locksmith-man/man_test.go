package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksmith/cmd/locksmith/cli"
	"locksmith/test/lab"
)

// write writes all pages into a directory.
func write(t *testing.T, epoch string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("SOURCE_DATE_EPOCH", epoch)
	if err := run(append([]string{dir}, rooms(t)...)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// rooms are the pages of the guide, without their index.
func rooms(t *testing.T) []string {
	t.Helper()
	files := lab.GuidePages(t)[1:]
	for i, file := range files {
		files[i] = filepath.Join("../..", file)
	}
	return files
}

func read(t *testing.T, dir, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPages: every command that help knows has a page with the same flags.
func TestPages(t *testing.T) {
	dir := write(t, "")
	commands := all(cli.Commands())
	if files, _ := filepath.Glob(dir + "/*.1"); len(files) != len(commands) || len(files) < 16 {
		t.Errorf("%d pages of %d commands", len(files), len(commands))
	}
	for _, c := range commands {
		page := read(t, dir, name(c)+".1")
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"} {
			if !strings.Contains(page, "\n.SH "+section+"\n") {
				t.Errorf("%s has no section %s", name(c), section)
			}
		}
		c.InitDefaultHelpFlag()
		helped := flags(`(?m)^ +(?:-\w, )?--([a-z-]+)`, c.LocalFlags().FlagUsages())
		written := flags(`(?m)^(?:\\fB-\w\\fR, )?\\fB--([a-z-]+)\\fR`, strings.ReplaceAll(page, `\-`, "-"))
		if !slices.Equal(helped, written) {
			t.Errorf("%s: help has the flags %q, the page %q", name(c), helped, written)
		}
	}
}

func flags(pattern, text string) (names []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// TestSections: the pages have sections that no help has.
func TestSections(t *testing.T) {
	dir := write(t, "")
	for file, want := range map[string]string{
		"locksmith.1":         "ENVIRONMENT",
		"locksmith-run.1":     `LOCKSMITH_TOKEN`,
		"locksmith-status.1":  "profiles.toml",
		"locksmith-hold.1":    `locksmith\-run(1)`,
		"locksmith-version.1": "locksmith(1)",
	} {
		if !strings.Contains(read(t, dir, file), want) {
			t.Errorf("%s does not have %s", file, want)
		}
	}
	if strings.Contains(read(t, dir, "locksmith-version.1"), "ENVIRONMENT") {
		t.Error("version minds no environment")
	}
}

// TestGuide: each page of the guide is a man page, with all headings, commands and examples of the page.
func TestGuide(t *testing.T) {
	dir := write(t, "")
	for _, file := range rooms(t) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page := read(t, dir, guidePage(file)+".7")
		if !strings.Contains(read(t, dir, "locksmith.1"), escape(guidePage(file))+"(7)") {
			t.Errorf("locksmith.1 does not name %s", guidePage(file))
		}
		fenced := false
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimSuffix(line, "\n")
			want := escape(strings.ReplaceAll(line, "\t", "  "))
			switch {
			case strings.HasPrefix(line, fence):
				fenced = !fenced
				continue
			case fenced:
			case strings.HasPrefix(line, "## "):
				want = ".SH " + escape(strings.ToUpper(plain(line[3:])))
			case strings.HasPrefix(line, "### "):
				want = ".SS " + escape(plain(line[4:]))
			default:
				continue
			}
			if !strings.Contains(page, want+"\n") {
				t.Errorf("%s.7 does not have the line %q of %s", guidePage(file), want, file)
			}
		}
		for _, mark := range []string{"](", "**", "\\(ga"} {
			if text := regexp.MustCompile(`(?s)\.EX\n.*?\.EE\n`).ReplaceAllString(page, ""); strings.Contains(text, mark) {
				t.Errorf("%s.7 shows %q to readers", guidePage(file), mark)
			}
		}
	}
}

// TestGuideMarks: what Markdown marks, roff marks, too.
func TestGuideMarks(t *testing.T) {
	const page = "# Rooms\n\nSee `a -b`, **now**, *not* [that](ftp.md#reap) [`x`](../y.md).\n\n- one\n  more\n- two\n\n" +
		"| a | b | c |\n| --- | --- | --- |\n| `k` | v | |\n| | w | x |\n\n## So\n\n```sh\n.x\n\n\ty\n```\n\nend\n"
	const want = ".SH DESCRIPTION\nSee \\fBa \\-b\\fR, \\fBnow\\fR, \\fInot\\fR that (\\fBlocksmith\\-ftp\\fR(7))\n\\fBx\\fR.\n" +
		".IP \\(bu 4\none more\n.IP \\(bu 4\ntwo\n.TP\n\\fBk\\fR\nb: v\n.TP\n\\fBk\\fR\nb: w\n.br\nc: x\n" +
		".SH SO\n.EX\n\\&.x\n\n  y\n.EE\n.PP\nend\n.SH SEE ALSO\n"
	if got := string(guide("rooms.md", page, "")); !strings.Contains(got, want) {
		t.Errorf("%s\nis not in\n%s", want, got)
	}
}

// TestSamePages: the pages depend only on the commands and on the given date.
func TestSamePages(t *testing.T) {
	first, second, dated := write(t, ""), write(t, ""), write(t, "86400")
	for _, c := range all(cli.Commands()) {
		file := name(c) + ".1"
		one := read(t, first, file)
		if one != read(t, second, file) || !strings.Contains(one, `1 "" locksmith`) {
			t.Errorf("%s differs, or has a date", file)
		}
		if strings.Replace(one, `1 "" `, `1 "1970-01-02" `, 1) != read(t, dated, file) {
			t.Errorf("%s has another date than SOURCE_DATE_EPOCH", file)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if err := run([]string{first}); err == nil {
		t.Error("that is no date")
	}
}

// TestLint: programs that check man pages find nothing wrong.
func TestLint(t *testing.T) {
	files, err := filepath.Glob(write(t, "86400") + "/*.[17]")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"mandoc", "-Tlint", "-Wwarning"}, {"groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-z"}} {
		t.Run(argv[0], func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				lab.Lacking(t, err.Error())
			}
			out, err := exec.Command(argv[0], append(argv[1:], files...)...).CombinedOutput()
			if err != nil || len(bytes.TrimSpace(out)) > 0 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestRoff(t *testing.T) {
	var r roff
	r.paragraphs(".begins with a dot\n\n'quoted' back\\slash\n\n\tas it\n\t  is")
	const want = "\\&.begins with a dot\n.PP\n\\(aqquoted\\(aq back\\eslash\n.PP\n.EX\n  as it\n    is\n.EE\n"
	if got := string(r.bytes()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
