//go:build linux

package security

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/test/lab"
)

// limited is a command that is started with a limit of the shell's (ulimit), hard and
// soft.
func limited(t *testing.T, limit string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, append([]string{"-c", "ulimit " + limit + ` && exec "$0" "$@"`, program(t)}, args...)...)
	cmd.Path = "/bin/sh"
	return cmd
}

// TestFewFiles: with too few descriptors locksmith says so before it does anything, and with
// enough it works; nothing in between happens.
func TestFewFiles(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			worked := 0
			for n := 4; n <= 20; n++ {
				path := filepath.Join(t.TempDir(), "lock")
				r := finish(t, limited(t, fmt.Sprint("-n ", n), "run", "--timeout", "10", k.at(path), "--", "true"))
				if r.status == 0 {
					worked++
				} else {
					r.mustSay(t, 70, "no more than", "ulimit -n 64")
				}
				mustTakeAgain(t, k.at(path))
			}
			if worked < 3 {
				t.Errorf("the lock can be had with %d of the limits of descriptors, want 3 at least", worked)
			}
		})
	}
}

// mustTakeAgain makes sure that the lock is not stuck, whatever happened.
func mustTakeAgain(t *testing.T, address string) {
	t.Helper()
	locksmith(t, "run", "--timeout", "20", address, "--", "true").mustSay(t, 0)
}

// TestNoFileSize: no byte may be written. Locks that are files say so; the others work.
func TestNoFileSize(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			r := finish(t, sizeLimited(t, k.at(path)))
			if k.scheme == "local" || k.scheme == "link" {
				r.mustSay(t, 73, "file too large", "ulimit -f")
			} else {
				r.mustSay(t, 0)
			}
			if _, err := os.Lstat(path); err == nil && k.scheme != "nfs" && k.options != "?style=dir" {
				t.Error("no byte could be written, and a lock file or directory is left behind: its maker must remove what it cannot finish")
			}
			mustTakeAgain(t, k.at(path))
		})
	}
}

func sizeLimited(t *testing.T, address string) *exec.Cmd {
	t.Helper()
	return limited(t, "-f 0", "run", address, "--", "true")
}

// TestFewThreads: if a Go program may have too few threads, its runtime ends it with status 2 and
// a trace, which cannot be helped. That happens before there is a lock. With as many threads as the
// guide says locksmith works; on a busy machine, where more calls are slow at the same time, it may
// take some more.
func TestFewThreads(t *testing.T) {
	lab.NeedRoot(t)
	prlimit := lab.NeedProgram(t, "prlimit")
	const usual, enough = 10, 16 // cmd/locksmith/guide/reference.md, Limits
	for i, k := range kinds {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			dir := publicDir(t, 0o777|os.ModeSticky)
			worked := false // with the usual limit
			for n := range 2*usual + 8 {
				limit := n / 2 // for all processes of the user; each twice: it may depend on who is faster
				switch {
				case n >= 2*usual+6:
					limit = enough
				case n >= 2*usual:
					limit = usual
				}
				address := k.at(filepath.Join(dir, fmt.Sprint("lock", n)))
				cmd := command(t, fmt.Sprint("--nproc=", limit), program(t), "run", address, "--", "/bin/true")
				cmd.Path = prlimit
				status, said := lab.Run(t, as(54400+i, cmd))
				isShort := strings.Contains(said, "failed to create new OS thread") || strings.Contains(said, "resource temporarily unavailable")
				worked = worked || status == 0 && limit == usual
				if status != 0 && (limit == enough || !isShort) {
					t.Errorf("with room for %d threads run ends with status %d, want 0, or before %d threads that no thread can be made; it says: %.500s", limit, status, enough, said)
				}
				if r := locksmith(t, "status", address); strings.Contains(r.out, "held by") {
					t.Errorf("with room for %d threads run ends with status %d and leaves the lock held: %s", limit, status, r.out)
				}
			}
			if !worked {
				t.Errorf("with room for %d threads run never works, of six tries", usual)
			}
		})
	}
}

// TestAnyOfMany: a command waits for any of many locks that others hold. It needs no thread for
// each lock, and no more descriptors than most users may have. It gets the first lock that comes
// free.
func TestAnyOfMany(t *testing.T) {
	lab.NeedRoot(t)
	prlimit := lab.NeedProgram(t, "prlimit")
	for scheme, many := range map[string]int{"local": 300, "nfs": 60, "mkdir": 60, "link": 60} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			dir := publicDir(t, 0o777|os.ModeSticky)
			var all []string
			for i := range many {
				all = append(all, fmt.Sprintf("%s:%s/%d", scheme, dir, i))
			}
			uid := 54300 + len(scheme) + many
			holders := []*lab.Process{
				lab.Start(t, as(uid, command(t, append([]string{"hold", "--stdin", "watch"}, all[1:]...)...))),
				lab.Start(t, as(uid, command(t, "hold", "--stdin", "watch", all[0]))),
			}
			for _, h := range holders {
				h.Line()
			}
			cmd := command(t, append([]string{"--nproc=200", "--nofile=800", program(t), "hold", "--stdin", "watch", "--any"}, all...)...)
			cmd.Path = prlimit
			waiter := lab.Start(t, as(uid, cmd))
			threads, descriptors := 0, 0
			for calm, late := 0, time.Now().Add(time.Minute); calm < 20; time.Sleep(50 * time.Millisecond) { // then it waits for all
				calm++
				if n := entriesOf(waiter.PID(), "fd"); n > descriptors || n <= 2*many {
					calm, descriptors = 0, max(n, descriptors)
				}
				threads = max(threads, entriesOf(waiter.PID(), "task"))
				if time.Now().After(late) {
					t.Fatalf("after a minute a waiter for %d locks has %d descriptors, want more than %d, as one that waits for all", many, descriptors, 2*many)
				}
			}
			t.Logf("%d locks: %d threads, %d descriptors", many, threads, descriptors)
			// On a busy machine a few locks are looked at at the same time, each by a thread.
			if most := 25 + many/3; threads > most || descriptors > 5*many || descriptors > 750 {
				t.Errorf("a waiter for %d locks has %d threads and %d descriptors, want at most %d and %d", many, threads, descriptors, most, min(5*many, 750))
			}
			holders[1].LetGo()
			if said := waiter.Line(); !strings.HasPrefix(said, "OK") || !strings.Contains(said, dir+"/0") {
				t.Errorf("the lock 0 is free now, and who waits for any of %d says %q, want OK with that lock", many, said)
			}
			waiter.LetGo()
			waiter.Exits(0)
		})
	}
}

// entriesOf counts the entries of one of a process's directories in /proc; 0 if the process has
// ended.
func entriesOf(pid int, of string) int {
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/%s", pid, of))
	return len(all)
}

// TestLittleMemory: too little memory ends a Go program in the same way. If that happens at the
// start, there is no lock yet; if later, the lock is broken as that of any other holder that
// died.
func TestLittleMemory(t *testing.T) {
	for _, mib := range []int{32, 64, 128, 256, 512, 1024, 2048} {
		address := "local:" + filepath.Join(t.TempDir(), "lock")
		mustEndSomehow(t, limited(t, fmt.Sprint("-v ", mib<<10), "run", address, "--", "/bin/true"), "memory", "failed to reserve", "cannot allocate", "")
		mustTakeAgain(t, address)
	}
}

// mustEndSomehow makes sure that a command works, or ends at once; if it ends with an error, the
// error is one of says.
func mustEndSomehow(t *testing.T, cmd *exec.Cmd, says ...string) {
	t.Helper()
	status, said := lab.Run(t, cmd)
	for _, s := range says {
		if status == 0 || strings.Contains(said, s) {
			return
		}
	}
	t.Errorf("%v: status %d: %s", cmd.Args, status, said)
}

// TestCertificates: a file of certificates that is none does not keep us.
func TestCertificates(t *testing.T) {
	for _, p := range (kind{}).plants() {
		path := filepath.Join(t.TempDir(), "ca.pem")
		if err := p.put(newVictim(t), path); err != nil {
			continue
		}
		r := locksmith(t, "status", "--ca", path, "ftps://127.0.0.1:1/lock")
		r.mustBeSmall(t)
		r.mustSay(t, 78, "read certificates")
	}
}
