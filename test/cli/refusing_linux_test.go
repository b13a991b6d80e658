package cli

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// refusing is a program that becomes another one, to which the kernel refuses some system calls
// with EPERM, as seccomp profiles of containers do: refusing statx,openat2 COMMAND [ARG…]
func refusing() {
	err := lab.Refuse(unix.EPERM, strings.Split(os.Args[1], ",")...)
	if path, e := exec.LookPath(os.Args[2]); err == nil && e == nil {
		err = syscall.Exec(path, os.Args[2:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "refusing:", err)
	os.Exit(125)
}

// TestRefusedCalls: without some calls of the kernel doctor tells what is weaker, and locks that
// need no such call still work. Nobody is told to change a directory's rights because of a
// refused call.
func TestRefusedCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	under := func(calls string, args ...string) (out string, status int) {
		cmd := exec.Command("refusing", append([]string{calls, "locksmith"}, args...)...)
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(text), cmd.ProcessState.ExitCode()
	}
	if out, _ := under("statx", "version"); strings.Contains(out, "refusing:") {
		lab.Lacking(t, "no seccomp here: "+out)
	}
	const all = "statx,openat2,pidfd_open"
	for kind, status := range map[string]int{"local": 0, "mkdir": 0, "nfs": 73, "link": 73} {
		lock := kind + ":" + dir + "/" + kind
		out, got := under(all, "run", "--timeout", "0", lock, "--", "true")
		if got != status || strings.Contains(out, "chmod") || status != 0 && !strings.Contains(out, "this kernel, or the seccomp profile of this container, refuses statx(2); allow it there, or use a newer kernel: locksmith doctor tells") {
			t.Errorf("run of %s with calls refused: status %d, %s", kind, got, out)
		}
		out, got = under(all, "doctor", lock)
		for _, says := range []string{"no statx (", "since Linux 4.11", "no pidfd_open (", "since Linux 5.3", "no openat2 (", "since Linux 5.12"} {
			if !strings.Contains(out, says) {
				t.Errorf("doctor of %s does not say %q: %s", kind, says, out)
			}
		}
		if (got == 73) != (status == 73) {
			t.Errorf("doctor of %s: status %d, %s", kind, got, out)
		}
	}
	if out, _ := under("openat2", "doctor", "local:"+dir+"/one"); !regexp.MustCompile("fit for locks, but with weak points: see (cleaning, )?kernel").MatchString(out) {
		t.Errorf("doctor without openat2 says: %s", out)
	}
}
