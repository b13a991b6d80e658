package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startC compiles and starts a program.
func startC(t *testing.T, text string) *exec.Cmd {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no C compiler")
		}
		t.Skip("no C compiler")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// TestMainThreadGone: a process whose main thread has ended shows the state of
// a zombie while its other threads work.
func TestMainThreadGone(t *testing.T) {
	cmd := startC(t, `#include <pthread.h>
#include <unistd.h>
static void *work(void *x) { sleep(60); return x; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_exit(0); }
`)
	p := Process{PID: cmd.Process.Pid}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		fields, err := statFields(p.PID)
		if err == nil && fields[0] == "Z" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the main thread did not end: %s", strings.Join(fields, " "))
		}
	}
	if p.Gone() {
		t.Error("a process that still works counts as gone")
	}
	_ = cmd.Process.Kill()
	for deadline := time.Now().Add(20 * time.Second); !p.Gone(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a killed process does not count as gone")
		}
	}
}
