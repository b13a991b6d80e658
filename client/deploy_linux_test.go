package client_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"locksmith/client"
)

// deployed is set in a process that plays a program during a deploy.
const deployed = "LOCKSMITH_TEST_DEPLOYED"

// TestDeploy: a program that is its own helper stays so when its file is replaced or removed.
func TestDeploy(t *testing.T) {
	for _, how := range []string{"replaced", "removed"} {
		t.Run(how, func(t *testing.T) {
			program := copyOfOurselves(t)
			address, _ := newLock(t)
			cmd := exec.Command(program, "-test.run", "^TestDuringDeploy$", "-test.v")
			cmd.Env = append(os.Environ(), deployed+"="+how, "LOCKSMITH_TEST_LOCK="+address)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestDuringDeploy is that program.
func TestDuringDeploy(t *testing.T) {
	how, address := os.Getenv(deployed), os.Getenv("LOCKSMITH_TEST_LOCK")
	if how == "" {
		t.Skip("only TestDeploy runs this")
	}
	before := acquire(t, address)
	ours, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	next := ours + ".next"
	if err := os.WriteFile(next, []byte("#!/bin/sh\necho the next version does not know how\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if how == "removed" {
		err = os.Remove(ours)
	} else {
		err = os.Rename(next, ours)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := before.Release(); err != nil {
		t.Error(err)
	}
	err = client.Do(t.Context(), address, func(context.Context) error { return nil })
	if err != nil {
		t.Errorf("after its file was replaced or removed the program gets no lock: %v", err)
	}
}

func copyOfOurselves(t *testing.T) string {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(t.TempDir(), "program")
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	return path
}
