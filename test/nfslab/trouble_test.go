//go:build linux

package nfslab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/guest"
	"locksmith/test/lab"
)

// trouble: what does not work says so, with the right exit status.
func trouble(t *testing.T) {
	for name, run := range map[string]func(*testing.T){
		"readonly": readOnly, "squash": squash, "full": full, "vfat": vfat, "away": away,
		"unmounted": unmounted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// fails expects hold on host k to fail with one of these statuses, and a message to people.
func fails(t *testing.T, k int, lock string, status int, flags ...string) {
	t.Helper()
	h := hold(t, k, lock, flags...)
	s := h.Says("ERR")
	h.Exits(status)
	if !strings.Contains(s.Text, lock) {
		t.Errorf("the message does not name the lock: %q", s.Text)
	}
}

// share makes a file system at a directory of the server's export and mounts it on hosts.
func share(t *testing.T, hosts []int, number int, options string, make ...string) (dir, mounted string) {
	t.Helper()
	name := fmt.Sprintf("/other%d", number)
	dir, mounted = export+name, "/mnt"+name
	mustWork(t, os.Mkdir(dir, 0o777))
	mustWork(t, os.Mkdir(mounted, 0o777)) // hosts have the same /mnt
	do(t, append(make, dir)...)
	exports, err := os.OpenFile("/etc/exports", os.O_APPEND|os.O_WRONLY, 0)
	mustWork(t, err)
	defer exports.Close()
	_, err = fmt.Fprintf(exports, "%s *(%s,sync,insecure,no_subtree_check,fsid=%d)\n", dir, options, number)
	mustWork(t, err)
	do(t, "exportfs", "-ra")
	for _, k := range hosts {
		do(t, "nfsmount", strconv.Itoa(k), name, mounted)
		t.Cleanup(func() { must(t, guest.On(k, "umount", mounted)) })
	}
	return dir, mounted
}

// disk is a small one with a file system, for share.
func disk(t *testing.T, mkfs ...string) (make []string) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	do(t, "truncate", "-s", "4M", image)
	do(t, append(mkfs, image)...)
	return []string{"mount", "-t", strings.TrimPrefix(mkfs[0], "mkfs."), "-o", "loop", image}
}

func readOnly(t *testing.T) {
	_, at := share(t, []int{1}, 11, "ro,no_root_squash", "mount", "-t", "tmpfs", "tmpfs")
	fails(t, 1, at+"/L", 73)
}

// squash: root is nobody on the server, and may not write in root's directory.
func squash(t *testing.T) {
	_, at := share(t, []int{1}, 12, "rw,root_squash", "mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs")
	fails(t, 1, at+"/L", 77)
}

// full: the disk is full when a lock is to be had, and when one is held.
func full(t *testing.T) {
	dir, at := share(t, []int{3}, 13, "rw,no_root_squash", disk(t, "mkfs.ext4", "-q", "-N", "64")...)
	t.Cleanup(func() { mustWork(t, os.RemoveAll(dir+"/fill")) })
	lock := at + "/L"
	first := hold(t, 3, lock, "--refresh", "1s")
	first.Held()
	mine, _ := filepath.Glob(dir + "/L/R/x.*")
	next := hold(t, 3, lock)
	lab.Eventually(t, "a waiter", func() bool {
		all, _ := filepath.Glob(dir + "/L/R/x.*")
		return len(all) == 2
	})

	do(t, "sh", "-c", `mkdir "$0/fill"; i=0; while echo $i >"$0/fill/$i"; do i=$((i+1)); done; dd if=/dev/zero of="$0/fill/0"; :`, dir)
	fails(t, 3, at+"/M", 73)
	if _, err := os.Lstat(dir + "/M"); err == nil {
		t.Errorf("something is left of a lock on a full disk")
	}
	fails(t, 3, lock, 73)
	for range 3 {
		heartbeat(t, mine[0])
	}
	first.silent()
	first.Release()
	s, err := next.Next()
	t.Logf("who waited when the disk became full: %s %q (%v)", s.Word, s.Text, err)
}

// heartbeat waits for one, as the server sees it.
func heartbeat(t *testing.T, reservation string) {
	t.Helper()
	modified := func() (st unix.Stat_t) {
		mustWork(t, unix.Lstat(reservation, &st))
		return st
	}
	before := modified().Mtim
	lab.Eventually(t, "a heartbeat", func() bool { return modified().Mtim != before })
}

// unmounted: with ?fs=network who has the share mounted gets the lock, and who has not is told so.
func unmounted(t *testing.T) {
	_, at := share(t, []int{1}, 17, "rw,no_root_squash", "mount", "-t", "tmpfs", "tmpfs")
	lock := at + "/L?fs=network"
	h := hold(t, 1, lock)
	h.Held()
	fails(t, 2, lock, 73)
	if _, err := os.Lstat(at + "/L"); err == nil {
		t.Error("a lock was made below the mount point")
	}
	h.Release()
}

// vfat has neither symbolic nor hard links.
func vfat(t *testing.T) {
	_, at := share(t, []int{1}, 14, "rw,no_root_squash", disk(t, "mkfs.vfat")...)
	fails(t, 1, at+"/L", 73)
	fails(t, 1, "link:"+at+"/N", 73)
	h := hold(t, 1, "mkdir:"+at+"/M")
	h.Held()
	h.Release()
}

// away: a mount that never gives up on its server hangs whoever looks at it, but not whoever
// asked for a lock within a time; one that gives up says so.
func away(t *testing.T) {
	const soft = "/mnt/soft"
	lock := place(t)
	do(t, "nfsmount", strconv.Itoa(cutHost), "/", soft, "soft,timeo=10,retrans=1")
	t.Cleanup(func() { must(t, guest.On(cutHost, "umount", soft)) })
	script(t, cutHost, "ls "+mount+" "+soft)
	do(t, "hostnet", strconv.Itoa(cutHost), "down")
	t.Cleanup(func() { do(t, "hostnet", strconv.Itoa(cutHost), "up") })
	h := hold(t, cutHost, lock, "--timeout", "3s")
	h.Says("ERR")
	h.Exits(69, 75)
	fails(t, cutHost, soft+strings.TrimPrefix(lock, mount), 69, "--timeout", "0")
}
