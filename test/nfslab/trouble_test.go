//go:build linux

package nfslab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Where the hosts have mounts for trouble.
const (
	softMount  = "/mnt/soft"
	otherMount = "/mnt/other"
)

// trouble: what does not work says so, with the right exit status, in time.
func trouble(t *testing.T) {
	t.Run("readonly", readOnly)
	t.Run("squash", squash)
	t.Run("full", full)
	t.Run("vfat", vfat)
	t.Run("soft", softMounted)
	t.Run("hard", hardMounted)
}

// refused expects hold on host k to fail with a status, and a message to people.
func refused(t *testing.T, k int, lock string, want int, within time.Duration, flags ...string) {
	t.Helper()
	h := hold(t, k, lock, flags...)
	s := h.next("ERR", within)
	t.Logf("code=%s after %v: %s", s.Value("code"), (s.at - h.began).Round(time.Millisecond), s.Text)
	h.exit(want, within)
	if !strings.Contains(s.Text, lock) {
		t.Errorf("the message does not name the lock: %q", s.Text)
	}
}

// share makes a file system at a directory of the server's export and mounts it
// on a host at otherMount.
func share(t *testing.T, k, number int, options string, make ...string) (dir string) {
	t.Helper()
	return shareWith(t, []int{k}, number, options, make...)
}

// shareWith is share with several hosts.
func shareWith(t *testing.T, hosts []int, number int, options string, make ...string) (dir string) {
	t.Helper()
	name := fmt.Sprintf("/other%d", number)
	dir = export + name
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	do(t, append(make, dir)...)
	line := fmt.Sprintf("%s *(%s,sync,insecure,no_subtree_check,fsid=%d)\n", dir, options, number)
	exports, err := os.OpenFile("/etc/exports", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer exports.Close()
	if _, err := exports.WriteString(line); err != nil {
		t.Fatal(err)
	}
	do(t, "exportfs", "-ra")
	for _, k := range hosts {
		do(t, "nfsmount", strconv.Itoa(k), name, otherMount)
		t.Cleanup(func() { do(t, "onhost", strconv.Itoa(k), "umount", otherMount) })
	}
	return dir
}

func readOnly(t *testing.T) {
	share(t, 1, 11, "ro,no_root_squash", "mount", "-t", "tmpfs", "tmpfs")
	refused(t, 1, otherMount+"/L", 73, waitLimit)
}

// squash: root is nobody on the server, and may not write in root's directory.
func squash(t *testing.T) {
	share(t, 2, 12, "rw,root_squash", "mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs")
	refused(t, 2, otherMount+"/L", 77, waitLimit)
}

// full: the disk is full when a lock is to be had, and when one is held.
func full(t *testing.T) {
	image := filepath.Join(t.TempDir(), "image")
	do(t, "truncate", "-s", "4M", image)
	do(t, "mkfs.ext4", "-q", "-N", "64", image)
	dir := share(t, 3, 13, "rw,no_root_squash", "mount", "-t", "ext4", "-o", "loop", image)
	t.Cleanup(func() { do(t, "rm", "-rf", dir+"/fill") })
	lock := otherMount + "/L"
	first := hold(t, 3, lock, "--lease", "5s")
	first.held()
	next := hold(t, 3, lock, "--lease", "5s")
	time.Sleep(500 * time.Millisecond) // it waits

	do(t, "sh", "-c", `mkdir "$0/fill"; i=0; while echo $i >"$0/fill/$i"; do i=$((i+1)); done; dd if=/dev/zero of="$0/fill/0"; :`, dir)
	refused(t, 3, otherMount+"/M", 73, waitLimit)
	if _, err := os.Lstat(dir + "/M"); err == nil {
		t.Errorf("something is left of a lock on a full disk")
	}
	refused(t, 3, lock, 73, waitLimit)
	time.Sleep(10 * time.Second) // two leases of heartbeats
	first.silent()
	first.release()
	s := <-next.said
	t.Logf("who waited when the disk became full: %s %q", s.Word, s.Text)
}

// vfat has neither symbolic nor hard links.
func vfat(t *testing.T) {
	image := filepath.Join(t.TempDir(), "image")
	do(t, "truncate", "-s", "4M", image)
	do(t, "mkfs.vfat", image)
	share(t, 1, 14, "rw,no_root_squash", "mount", "-t", "vfat", "-o", "loop", image)
	refused(t, 1, otherMount+"/L", 73, waitLimit)
	refused(t, 1, "link:"+otherMount+"/N", 73, waitLimit)
	h := hold(t, 1, "mkdir:"+otherMount+"/M")
	h.held()
	h.release()
}

// softMounted: a mount that gives up says so when the server is away.
func softMounted(t *testing.T) {
	lock := place(t)
	name := strings.TrimPrefix(filepath.Dir(lock), mount)
	do(t, "nfsmount", "3", "/", softMount, "soft,timeo=10,retrans=1")
	t.Cleanup(func() { do(t, "onhost", "3", "umount", softMount) })
	script(t, 3, "ls "+softMount)
	do(t, "hostnet", "3", "down")
	defer do(t, "hostnet", "3", "up")
	refused(t, 3, softMount+name+"/L", 69, 3*waitLimit)
}

// hardMounted: a mount that never gives up hangs whoever looks at it, but not
// whoever asked for a lock within a time.
func hardMounted(t *testing.T) {
	lock := place(t)
	script(t, 3, "ls "+mount)
	do(t, "hostnet", "3", "down")
	defer do(t, "hostnet", "3", "up")
	h := hold(t, 3, lock, "--timeout", "3s")
	select {
	case <-h.ended:
	case <-time.After(30 * time.Second):
		t.Fatalf("still there after 30 s; stderr:\n%s", &h.stderr)
	}
	s := <-h.said
	t.Logf("exit status %d, %s %q after %v", h.cmd.ProcessState.ExitCode(), s.Word, s.Text, (now() - h.began).Round(time.Millisecond))
	if code := h.cmd.ProcessState.ExitCode(); code != 69 && code != 75 {
		t.Errorf("exit status %d, want 69 or 75", code)
	}
}
