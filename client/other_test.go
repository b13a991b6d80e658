//go:build unix

package client_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"locksmith/client"
	"locksmith/test/lab"
)

// TestOtherProgram: a program that is its own helper finds kinds of locks that other programs
// have.
func TestOtherProgram(t *testing.T) {
	lab.NeedProgram(t, "python3")
	text, err := os.ReadFile("../test/parents/testdata/second/locksmith")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "locksmith-demo"), text, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	_, path := newLock(t)
	lock := acquire(t, "demo:"+path)
	if err := refused(t, "demo:"+path); !errors.Is(err, client.ErrHeld) {
		t.Errorf("a second try says %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	mustBeFree(t, path)
}
