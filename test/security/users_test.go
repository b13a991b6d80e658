//go:build linux

package security

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// as makes a command run as another user.
func as(uid int, cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	return cmd
}

// A holder is a command that holds a lock until its input ends.
type holder struct {
	*lab.Process
	id string
}

// hold starts a command and waits until it has the lock.
func hold(t *testing.T, cmd *exec.Cmd) *holder {
	t.Helper()
	p := lab.Start(t, cmd)
	return &holder{p, p.Line()}
}

// holding returns a command for hold. The command that run starts dies with run, so that no other
// process stands for the holder.
func holding(address string) []string {
	return []string{"run", address, "--", "sh", "-c", "echo $LOCKSMITH_ID; exec cat"}
}

func (h *holder) letGo() {
	h.LetGo()
	h.Exits(0)
}

// TestOthersLock: root has a lock in a directory for all. Another user sees that it is root's,
// and that the holder lives, though he may not send it signals. He cannot break the lock, and
// gets it in his turn. If root's holder died, only root may remove its lock: the others wait, and
// are told why.
func TestOthersLock(t *testing.T) {
	lab.NeedRoot(t)
	for _, k := range kinds {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			dir := publicDir(t, 0o777|os.ModeSticky)
			address := k.at(filepath.Join(dir, "lock"))
			h := hold(t, command(t, holding(address)...))
			other := func(args ...string) result { t.Helper(); return finish(t, as(nobody, command(t, args...))) }
			other("status", address).mustSay(t, 0, "held by root@", "[alive]")
			if r := other("hold", "--stdin", "watch", "--timeout", "0", address); r.status != 77 || k.scheme != "nfs" && k.options == "" {
				r.mustSay(t, 75, "ERR code=")
			}
			other("break", address, "--id", h.id).mustSay(t, 75, "it is alive")
			if r := other("break", "--force", address, "--id", h.id); r.status == 0 && k.scheme == "local" {
				t.Errorf("nobody broke root's lock: %s%s", r.out, r.err)
			}
			h.Kill()
			r := other("run", "--timeout", "1s", address, "--", "true")
			switch {
			case k.scheme == "local", k.scheme == "link":
				r.mustSay(t, 75, "only its owner may remove it")
			case r.status == 77:
				r.mustSay(t, 77, "allow this user")
			case r.status != 0:
				r.mustSay(t, 75, "root@")
			}
			if r := locksmith(t, "run", "--timeout", "20", address, "--", "true"); r.status != 0 {
				t.Errorf("root does not get his own dead one's lock: %s", r.err)
			}
		})
	}
}

// TestUnseenParent: a helper that may not look at its parent, which is another user's, does not guess
// what its standard input is for. Told by a flag, or without a pipe there, it need not.
func TestUnseenParent(t *testing.T) {
	lab.NeedRoot(t)
	address := "local:" + filepath.Join(publicDir(t, 0o777|os.ModeSticky), "lock")
	other := func(args ...string) *exec.Cmd { return as(nobody, command(t, append(args, address)...)) }
	finish(t, other("hold")).mustSay(t, 64, "ERR code=usage", "say --stdin watch", "permission denied")
	finish(t, other("hold", "--stdin", "watch")).mustSay(t, 0, "OK ", "RELEASED ")
	finish(t, as(nobody, command(t, "run", address, "--", "echo", "ran"))).mustSay(t, 0, "ran")
	cmd := other("hold")
	cmd.Stdin = lab.Null(t)
	oneWay := lab.Hold(t, cmd)
	oneWay.Held()
	oneWay.StopReading()
	oneWay.Exits(0)
}

// TestUsersTakeTurns: in a sticky directory, what one user leaves is not in the other's way.
func TestUsersTakeTurns(t *testing.T) {
	lab.NeedRoot(t)
	for _, k := range kinds {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			dir := publicDir(t, 0o777|os.ModeSticky)
			address := k.at(filepath.Join(dir, "lock"))
			switch lock := filepath.Join(dir, "lock"); {
			case k.scheme == "nfs": // as README says
				mustWork(t, os.Mkdir(lock, 0o777), os.Chmod(lock, 0o777|os.ModeSticky))
			case k.options == "?style=dir": // whose lock/lock is renamed onto by all
				mustWork(t, os.Mkdir(lock, 0o777), os.Chmod(lock, 0o777))
			}
			for _, uid := range []int{nobody, 1234, nobody, 0} {
				finish(t, as(uid, command(t, "run", "--timeout", "20", address, "--", "true"))).mustSay(t, 0)
			}
		})
	}
}

// TestEverybodysDirectory: where everybody may remove other users' files, lock files
// are refused. Locks of directories are made: who may write there may break them.
func TestEverybodysDirectory(t *testing.T) {
	dir := publicDir(t, 0o777)
	for i, k := range kinds {
		want := 0
		if k.scheme == "local" || k.scheme == "link" {
			want = 73
		}
		r := locksmith(t, "run", k.at(filepath.Join(dir, strconv.Itoa(i))), "--", "true")
		if r.status != want {
			t.Errorf("%v: status %d, want %d: %s", k, r.status, want, r.err)
		}
	}
}

// TestUmask: nobody may write to what holds a record. The umask decides who may look
// at a lock file of local: and at the directory of an nfs: lock; the modes of all else
// follow the directory that it is in.
func TestUmask(t *testing.T) {
	lab.NeedRoot(t)
	for _, umask := range []int{0, 0o022, 0o077, 0o777} {
		for _, k := range kinds {
			t.Run(fmt.Sprintf("%03o %v", umask, k), func(t *testing.T) {
				dir := publicDir(t, 0o755)
				mustWork(t, os.Chown(dir, nobody, nobody))
				path := filepath.Join(dir, "lock")
				cmd := command(t, "-c", fmt.Sprintf(`umask %03o && exec "$0" "$@"`, umask), program(t))
				cmd.Args = append(cmd.Args, holding(k.at(path))...)
				cmd.Path = "/bin/sh"
				if umask == 0o777 && k.scheme != "local" && k.scheme != "link" {
					// It could not enter its own directories.
					finish(t, as(nobody, cmd)).mustSay(t, 77, "permission denied")
					return
				}
				h := hold(t, as(nobody, cmd))
				mustHaveModes(t, dir, k, umask)
				r := finish(t, as(1234, command(t, "status", k.at(path))))
				if closed := umask&0o044 != 0; closed && (k.scheme == "local" || k.scheme == "nfs") {
					r.mustSay(t, 77, "permission denied")
				} else {
					r.mustSay(t, 0, "held by nobody@")
				}
				h.letGo()
			})
		}
	}
}

// mustHaveModes checks what was made below dir, whose mode is 0755.
func mustHaveModes(t *testing.T, dir string, k kind, umask int) {
	t.Helper()
	mustWork(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		var st unix.Stat_t
		if err != nil || path == dir {
			return err
		}
		mustWork(t, unix.Lstat(path, &st))
		if e.Type()&os.ModeSymlink != 0 {
			return nil
		}
		want := map[string]int{
			"local": 0o1000 | 0o644&^umask, // the sticky bit says that the file is a lock of ours
			"link":  0o644,
			"mkdir": 0o777&^umask | 0o755, // at least what the directory around has
			"nfs":   0o777 &^ umask,
		}[k.scheme]
		if mode := int(st.Mode & 0o7777); mode != want {
			t.Errorf("%s has the mode %o, want %o", path, mode, want)
		}
		return nil
	}))
}

// TestMembersSuccess: a member of a group puts a success beside root's lock in the group's directory.
// Root's job is not run again, as with a success of its own, but root is told whose word that was.
func TestMembersSuccess(t *testing.T) {
	lab.NeedRoot(t)
	for _, scheme := range []string{"local", "flock"} {
		t.Run(scheme, func(t *testing.T) {
			dir := publicDir(t, 0o775)
			path := filepath.Join(dir, "lock")
			mustWork(t, os.WriteFile(path+".done", []byte("SUCCESS v=1 host=web3\n"), 0o644), os.Chown(path+".done", nobody, nobody))
			locksmith(t, "run", "-n", "--once-per", "1h", scheme+":"+path, "--", "echo", "ran").mustSay(t, 0, "another user", "user=nobody")
		})
	}
}
