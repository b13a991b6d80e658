//go:build unix

package flock

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// Examine implements backend.Backend. It works with a file of its own beside the lock, and locks no
// other file.
func (l *Lock) Examine(ctx context.Context, _ backend.Examination, tell backend.Tell) error {
	dir := filepath.Dir(l.path)
	needs := doctor.DirNeeds{Kernel: true, Anybody: true, Anywhere: l.anyFS}
	if !needs.Examine(dir, tell) || !l.admits(tell) {
		return nil
	}
	x := examiner{doctor.OfFiles(l.address, tell), l, filepath.Join(dir, ".doctor."+owner.NewID())}
	defer os.Remove(x.path)
	return doctor.Run(ctx, x.descriptors, x.race, x.shared, x.processes, x.names)
}

// admits repeats what every attempt asks, and looks at what is there already.
func (l *Lock) admits(tell backend.Tell) bool {
	if err := l.checkPlace(); err != nil {
		tell.Refusal("place", err)
		return false
	}
	if st, err := lockfile.StatShared(l.path); err == nil && (st.Kind != "" || st.Size > 0 && l.record() == nil) {
		tell.Fit("record", "the file has a content of its own, which stays as it is: who has the lock is told by its process, without --meta")
	}
	if r, err := l.Read(context.Background()); err == nil && r.Beside != "" {
		tell.Weak("other lock", r.Beside, "let all who lock this file use the same call")
	}
	return true
}

// An examiner checks a place with a file of its own.
type examiner struct {
	doctor.Examiner
	lock *Lock
	path string
}

const onADisk = "use a file on a disk of this machine"

// opened are some descriptors of the file; nil: it is closed.
type opened []*lockfile.File

func (x *examiner) open(n int) (all opened, err error) {
	for range n {
		f, err := lockfile.OpenShared(x.path)
		if err != nil {
			all.close()
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

func (o opened) closeOne(i int) {
	if o[i] != nil {
		_ = o[i].Close()
		o[i] = nil
	}
}

func (o opened) close() {
	for i := range o {
		o.closeOne(i)
	}
}

// descriptors checks that a lock belongs to a descriptor, and that closing the descriptor lets
// it go.
func (x *examiner) descriptors(context.Context) error {
	const name = "kernel lock"
	all, err := x.open(2)
	if err := x.Must("make a file", err, name, "no file can be made beside the lock: ", "let this user make files there"); err != nil {
		return err
	}
	defer all.close()
	if !x.KernelLock(all[0], all[1], "", onADisk) {
		return doctor.ErrEnough
	}
	all.closeOne(0)
	if free, err := all[1].TryLock(); err != nil || !free {
		x.Tell.Unfit(name, "a lock stays when its descriptor is closed: "+doctor.NotLocked(err), onADisk)
		return doctor.ErrEnough
	}
	x.Tell.Fit(name, "a locked file was refused to the second, until the first was closed")
	return nil
}

// race checks that of two that ask at the same time one gets the lock.
func (x *examiner) race(ctx context.Context) error {
	var mu sync.Mutex
	var all opened
	defer func() { all.close() }()
	errTaken := errors.New("the other has it")
	return x.Race(ctx, doctor.Race{
		Name: "two lock the same", Did: "locked the same file", Advice: onADisk,
		Call: func(int) error {
			f, err := lockfile.OpenShared(x.path)
			if err != nil {
				return err
			}
			mu.Lock()
			all = append(all, f)
			mu.Unlock()
			if got, err := f.TryLock(); err != nil || !got {
				return errors.Join(err, errTaken)
			}
			return nil
		},
		End: func(int) (string, error) {
			all.close()
			all = nil
			return "", nil
		},
	})
}

// shared checks that two may share a lock, and that nobody has it alone meanwhile.
func (x *examiner) shared(context.Context) error {
	const name = "shared lock"
	all, err := x.open(3)
	if err != nil {
		return x.Fail("open a file", err)
	}
	defer all.close()
	first, err1 := all[0].TryShared()
	second, err2 := all[1].TryShared()
	alone, err3 := all[2].TryLock()
	switch err := errors.Join(err1, err2, err3); {
	case err != nil || !first || !second:
		x.Tell.Unfit(name, "two could not share a lock: "+doctor.NotLocked(err), onADisk)
	case alone:
		x.Tell.Unfit(name, "one had alone what two shared", onADisk)
	default:
		x.Tell.Fit(name, "two shared it, and a third did not get it alone")
	}
	return nil
}

// processes checks that a process keeps a lock that it inherited until it ends, however it ends.
func (x *examiner) processes(context.Context) error {
	const name = "inherited lock"
	all, err := x.open(2)
	if err != nil {
		return x.Fail("open a file", err)
	}
	defer all.close()
	if got, err := all[0].TryLock(); err != nil || !got {
		x.Tell.Unfit(name, "the file cannot be locked: "+doctor.NotLocked(err), onADisk)
		return nil
	}
	heir, end, err := inherit(all[0])
	if err != nil {
		x.Tell.Unknown(name, "no process could be started that inherits it: "+err.Error(), "let this user run sh")
		return nil
	}
	defer end()
	all.closeOne(0)
	kept, err := all[1].TryLock()
	if err != nil || kept {
		x.Tell.Unfit(name, "a process did not keep the lock that it inherited: "+doctor.NotLocked(err), onADisk)
		return nil
	}
	_ = heir.Kill()
	end()
	if free, err := all[1].TryLock(); err != nil || !free {
		x.Tell.Unfit(name, "the lock of a process that was killed is not free: "+doctor.NotLocked(err), onADisk)
		return nil
	}
	x.Tell.Fit(name, "a process kept the lock that it inherited, and it was free when that process was killed")
	return nil
}

// inherit starts a process that has the descriptor of a file, and waits for its input.
func inherit(f *lockfile.File) (heir *os.Process, end func(), err error) {
	cmd := exec.Command("/bin/sh", "-c", "read line")
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	_, err = process.Spawn(true, func() (int, error) {
		fd, err := f.Lend()
		if err != nil {
			return 0, err
		}
		lent := os.NewFile(uintptr(fd), "lent")
		defer lent.Close()
		cmd.ExtraFiles = []*os.File{lent}
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return cmd.Process, sync.OnceFunc(func() { endHeir(cmd, input) }), nil
}

func endHeir(cmd *exec.Cmd, input io.Closer) {
	_ = input.Close()
	_ = process.Wait(cmd)
}

// names checks that a lock counts only while its path names the very file that is locked.
func (x *examiner) names(context.Context) error {
	const name = "path and file"
	all, err := x.open(1)
	if err != nil {
		return x.Fail("open a file", err)
	}
	defer all.close()
	before := all[0].Named()
	removed := os.Remove(x.path)
	switch {
	case removed != nil:
		x.Tell.Weak(name, "a file can be made, but not removed: "+removed.Error()+"; "+x.path+" stays", "remove that file; locks are safe")
	case before != nil || !errors.Is(all[0].Named(), lockfile.ErrReplaced):
		x.Tell.Unfit(name, "a file and its path do not agree on being one, or on being removed", onADisk)
	default:
		x.Tell.Fit(name, "a path is known to name a file, and not to name it once removed")
	}
	return nil
}
