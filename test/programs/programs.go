// Package programs builds the programs that labs run, once for each test binary that
// asks for them.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"locksmith/test/lab"
)

// A Set is programs that are built together when the first of them is asked for.
type Set struct {
	packages []string
	env      []string
	once     sync.Once
	dir      string
	err      error
}

// New returns the programs of these packages, without the race detector.
func New(packages ...string) *Set { return &Set{packages: packages} }

// Static is New without the C library, so that they start sooner and make no calls but
// Go's own.
func Static(packages ...string) *Set { return &Set{packages: packages, env: []string{"CGO_ENABLED=0"}} }

// Build returns the directory that the programs are in.
func (s *Set) Build() (dir string, err error) {
	s.once.Do(s.build)
	return s.dir, s.err
}

// Path returns where a program is, by the last part of its package's name.
func (s *Set) Path(t testing.TB, name string) string {
	t.Helper()
	lab.NotShort(t, "it starts programs of ours")
	dir, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func (s *Set) build() {
	if s.dir, s.err = os.MkdirTemp("", "programs-"); s.err != nil {
		return
	}
	cmd := exec.Command("go", append([]string{"build", "-o", s.dir + "/"}, s.packages...)...)
	cmd.Env = append(os.Environ(), s.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.err = fmt.Errorf("go build: %w\n%s", err, out)
		return
	}
	s.err = os.Chmod(s.dir, 0o755) // other users run them, too
}

// Remove removes what was built. Nobody may be asking any more.
func (s *Set) Remove() {
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // it is in the directory for temporary files
	}
}
