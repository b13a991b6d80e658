package layers

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// skips are the files with tests that may skip on CI, too, and why they do. All others
// call lab.Lacking, which fails there.
var skips = map[string]string{
	"test/backendtest/disk_linux.go":      "the kernel has no such file system, which test/run says",
	"backends/ftp/kinds_test.go":          "the server cannot do it",
	"backends/tree_test.go":               "-short",
	"backends/link/interop_test.go":       "in a container the name of a host proves nothing",
	"client/deploy_linux_test.go":         "in a copy only",
	"test/history/fire_test.go":           "without -long",
	"test/s3lab/cluster_linux_test.go":    "without -long",
	"test/machines/formats_linux_test.go": "without -long",
	"test/history/overnfs_linux_test.go":  "without -long",
	"test/history/recorder_test.go":       "not on Linux",
	"test/history/versions_test.go":       "the clone has no history",
	"test/lab/need.go":                    "Lacking itself, and NotShort",
	"test/package/fresh_test.go":          "without -long",
	"test/parents/parents_test.go":        "the language has no threads",
	"test/promises/row02_test.go":         "no disk can be mounted here whose power may be cut; an emptied file is asked about all the same",
	"test/s3server/kinds.go":              "stores that no package has",
	"test/soak/night_test.go":             "without -night",
	"test/storages/renames_test.go":       "without -long",
	"test/storages/lab_test.go":           "without -long",
	"test/security/predicted_test.go":     "in a copy that strace watches only",
}

// TestSkips: no test is left out in silence where all should run.
func TestSkips(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "grep", "-lE", `\.Skip(f|Now)?\(`, "--", "*.go", ":!test/layers").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range strings.Fields(string(out)) {
		found[file] = true
		if skips[file] == "" {
			t.Errorf("%s skips a test: call lab.Lacking, which fails on CI, or say in skips why it may", file)
		}
	}
	for file := range skips {
		if !found[file] {
			t.Errorf("%s skips nothing: remove it from skips", file)
		}
	}
}

// TestHeavy: the tests that test/run leaves out under the race detector run in a step without it,
// wherever there is one of such a name.
func TestHeavy(t *testing.T) {
	script, err := os.ReadFile("../run")
	if err != nil {
		t.Fatal(err)
	}
	words := func(expr string) []string {
		found := regexp.MustCompile("(?m)" + expr).FindSubmatch(script)
		if found == nil {
			t.Fatalf("test/run has no line %q", expr)
		}
		return slices.Sorted(slices.Values(regexp.MustCompile(`[ |]`).Split(string(found[1]), -1)))
	}
	names, packages, noRace := words(`^heavy='\^\((.*)\)\$'$`), words(`^\techo heavy .*-run "\$heavy" (.*)$`), words(`^s3='(.*)'$`)
	out, err := exec.Command("git", "-C", "../..", "grep", "-E", `^func (`+strings.Join(names, "|")+`)\(t `, "--", "*_test.go", ":!test").Output()
	if err != nil {
		t.Fatal(err)
	}
	namesFound, packagesFound := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		file, function, _ := strings.Cut(line, ":func ")
		name, _, _ := strings.Cut(function, "(")
		if in := "./" + path.Dir(file); !slices.Contains(noRace, in) {
			namesFound[name], packagesFound[in] = true, true
		}
	}
	if found := slices.Sorted(maps.Keys(namesFound)); !slices.Equal(found, names) {
		t.Errorf("of the tests %q there are only %q", names, found)
	}
	if found := slices.Sorted(maps.Keys(packagesFound)); !slices.Equal(found, packages) {
		t.Errorf("packages with such tests are %q, but the step heavy runs those of %q", found, packages)
	}
}
