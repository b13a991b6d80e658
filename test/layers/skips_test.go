package layers

import (
	"os/exec"
	"strings"
	"testing"
)

// skips are the files with tests that may skip on CI, too, and why they do. All others
// call lab.Lacking, which fails there.
var skips = map[string]string{
	"backends/backendtest/disk_linux.go": "the kernel has no such file system, which test/run says",
	"backends/ftp/kinds_test.go":         "the server cannot do it",
	"backends/tree_test.go":              "-short",
	"client/deploy_linux_test.go":        "in a copy only",
	"test/history/fire_test.go":          "without -long",
	"test/s3lab/cluster_linux_test.go":   "without -long",
	"test/history/recorder_test.go":      "not on Linux",
	"test/history/versions_test.go":      "the clone has no history",
	"test/lab/need.go":                   "Lacking itself, and NotShort",
	"test/package/fresh_test.go":         "without -long",
	"test/parents/parents_test.go":       "the language has no threads",
	"test/s3server/kinds.go":             "stores that no package has",
	"test/soak/night_test.go":            "without -night",
	"test/storages/lab_test.go":          "without -long",
	"test/security/predicted_test.go":    "in a copy that strace watches only",
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
