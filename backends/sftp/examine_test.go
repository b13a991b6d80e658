//go:build unix

package sftp

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

// examined returns the checks that were not passed, and the number of all checks.
func examined(t *testing.T, b backend.Backend) (found []backend.Check, all int) {
	t.Helper()
	err := b.Examine(t.Context(), backend.Examination{}, func(c backend.Check) {
		if all++; c.Finding != backend.Fit {
			found = append(found, c)
		}
	})
	if err != nil {
		t.Error(err)
	}
	return found, all
}

// likeProFTPD puts the link's directory in front of relative targets, if the request names one.
func likeProFTPD(r *asking) bool {
	if r.kind != typeReadlink {
		return false
	}
	asked := r.body
	dir := filepath.Dir(asked.string())
	target, err := os.Readlink(r.path)
	if err != nil || dir == "." {
		return false
	}
	r.to(newPacket(typeName).uint32(r.id).uint32(1).string(filepath.Join(dir, target)).string("").attrs(attrs{}))
	return true
}

// likePkgSFTP removes symbolic links with RMDIR.
func likePkgSFTP(r *asking) bool {
	if r.kind == typeRmdir && os.Remove(r.path) == nil {
		r.status(nil)
		return true
	}
	return false
}

// realpath tells where the log in leads.
func realpath(r *asking) bool {
	if r.kind == typeRealpath {
		r.to(newPacket(typeName).uint32(r.id).uint32(1).string("/home/u").string("").attrs(attrs{}))
	}
	return r.kind == typeRealpath
}

// TestExamine: doctor finds a fit server fit, and tells what others lack.
func TestExamine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hook    func(*asking) bool
		style   string
		finding backend.Finding
		says    string
	}{
		"fit":           {hook: realpath},
		"fit, style":    {hook: realpath, style: "dir"},
		"ProFTPD":       {likeProFTPD, "", backend.Unfit, "?style=dir"},
		"ProFTPD style": {likeProFTPD, "dir", "", ""},
		"pkg/sftp":      {likePkgSFTP, "", backend.Weak, "remove locks on the server's own disk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFake(t).when(realpath).when(c.hook)
			b := backend.Backend(f.open(t))
			if c.style != "" {
				b = f.openStyle(t, c.style)
			}
			found, all := examined(t, b)
			if c.finding == "" && (len(found) > 0 || all < 8) || c.finding != "" &&
				(len(found) != 1 || found[0].Finding != c.finding || !strings.Contains(found[0].Advice, c.says)) {
				t.Errorf("of %d checks these were not passed: %+v", all, found)
			}
			if left, _ := os.ReadDir(f.dir); len(left) > 0 {
				t.Errorf("doctor leaves behind %v", left)
			}
		})
	}
}

// TestRemoveIsRefused: a lock is not removed where that would not be safe. It is free after that.
func TestRemoveIsRefused(t *testing.T) {
	t.Parallel()
	f := startFake(t).when(likePkgSFTP)
	l := f.open(t)
	h := backendtest.MustAcquire(t, attemptOf(t, l))
	backendtest.MustFail(t, l.Remove(t.Context(), h), "cannot_create", "as if they were directories")
	backendtest.MustRelease(t, backendtest.MustAcquire(t, attemptOf(t, l)))
}

// TestMadeByAdministrator: an empty lock directory that exists is enough, even if nothing may be
// made beside it.
func TestMadeByAdministrator(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	if err := os.Mkdir(filepath.Join(f.dir, "lock"), 0o777); err != nil {
		t.Fatal(err)
	}
	f.when(realpath).when(func(r *asking) bool {
		above := r.kind == typeMkdir && filepath.Dir(r.path) == f.dir && filepath.Base(r.path) != "lock"
		if above {
			r.code(statusDenied)
		}
		return above
	})
	if bad, _ := examined(t, f.open(t)); len(bad) > 0 {
		t.Errorf("doctor of an administrator's empty directory finds %v", bad)
	}
	backendtest.MustRelease(t, backendtest.MustAcquire(t, attemptOf(t, f.open(t))))
}

// TestGroup: the group for which the directory above was made may use the lock, whatever the
// server's umask.
func TestGroup(t *testing.T) {
	t.Parallel()
	for above, want := range map[os.FileMode]os.FileMode{
		0o775 | os.ModeSetgid: 0o770, 0o775: 0o700, 0o777 | os.ModeSetgid: 0o700, 0o755 | os.ModeSetgid: 0o700,
	} {
		f := startFake(t)
		if err := os.Chmod(f.dir, above); err != nil {
			t.Fatal(err)
		}
		f.when(func(r *asking) bool {
			if r.kind == typeMkdir {
				r.status(errors.Join(os.Mkdir(r.path, 0o700), os.Chmod(r.path, 0o700)))
			}
			return r.kind == typeMkdir
		})
		backendtest.MustRelease(t, backendtest.MustAcquire(t, attemptOf(t, f.open(t))))
		for _, name := range []string{"", "R", "G"} {
			st, err := os.Stat(filepath.Join(f.dir, "lock", name))
			if err != nil || st.Mode().Perm() != want {
				t.Errorf("below %v: lock/%s has %v, not %v, %v", above, name, st.Mode(), want, err)
			}
		}
	}
}

// TestNoPosixRename: without posix-rename the styles do not work, and the error says so.
func TestNoPosixRename(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	f.extensions = nil
	a := attemptOf(t, f.openStyle(t, "dir"))
	_, err := a.Try(t.Context())
	backendtest.MustFail(t, err, "cannot_create", posixRename)
	if left, _ := os.ReadDir(f.dir); len(left) > 0 {
		t.Errorf("the error came only after this was made: %v", left)
	}
	backendtest.MustWithdraw(t, a)
	backendtest.MustRelease(t, backendtest.MustAcquire(t, attemptOf(t, startFake(t).open(t))))
}
