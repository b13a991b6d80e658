package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
)

// Examine implements backend.Backend. It works with a file of its own beside the lock.
func (l *Lock) Examine(ctx context.Context, _ backend.Examination, tell backend.Tell) error {
	dir := filepath.Dir(l.path)
	needs := doctor.DirNeeds{Kernel: true, Removal: true, Anybody: l.anyDir, Anywhere: l.anyFS}
	if !needs.Examine(dir, tell) || !l.admits(ctx, tell) {
		return nil
	}
	x := examiner{doctor.OfFiles(l.address, tell), filepath.Join(dir, ".doctor."+owner.NewID())}
	return x.examine(l.address)
}

// admits makes the checks of every attempt, and looks at the lock file that may be there.
func (l *Lock) admits(ctx context.Context, tell backend.Tell) bool {
	var r backend.Report
	err := l.checkDirectory()
	if err == nil {
		r, err = l.Read(ctx)
	}
	if err != nil {
		tell.Refusal("place", err)
		return false
	}
	for _, h := range r.Holders {
		if h.Advice != "" {
			tell.Weak("lock file", "it is there: "+h.Note, h.Advice)
		}
	}
	return true
}

// An examiner checks a place with a file of its own.
type examiner struct {
	doctor.Examiner
	path string
}

func (x *examiner) examine(lock backend.Name) error {
	const name = "exclusive create"
	f, err := lockfile.Create(x.path)
	if made, fatal := x.Said("create a file", err); fatal != nil {
		return fatal
	} else if !made {
		e := backend.FileError(string(lock), "create a file", err)
		x.Tell.Unfit(name, e.Err.Error(), e.Hint)
		return nil
	}
	defer f.Close()
	again, err := lockfile.Create(x.path)
	if err == nil {
		_ = again.Close()
	}
	if err := x.MadeAgain(doctor.Exclusive{
		Name: name, Again: "a file that exists was created again: two would hold the lock",
		Other: "to create what exists was refused, but not because it exists: ", Advice: onADisk,
	}, err); err != nil {
		_ = os.Remove(x.path)
		return err
	}
	x.kernelLock(f)
	x.links(f)
	return nil
}

const onADisk = "use a directory on a disk of this machine"

// kernelLock checks the kernel lock of a file, by which a holder is known to be alive.
func (x *examiner) kernelLock(f *lockfile.File) {
	const name = "kernel lock"
	other, err := open(x.path)
	if err != nil {
		x.Tell.Unfit(name, "the file cannot be opened again: "+err.Error(), "let this user read what he made")
		return
	}
	defer other.Close()
	if x.KernelLock(f, other, ": a living holder's lock would be broken", onADisk) {
		x.Tell.Fit(name, "a locked file was refused to the second")
	}
}

// links checks that a path is known to name a file, and not to name it once it is removed: only
// the very file that is locked may be removed. It also removes the examiner's file.
func (x *examiner) links(f *lockfile.File) {
	const name = "path and file"
	before, err := f.Stat()
	if err == nil {
		err = f.Named()
	}
	removed := os.Remove(x.path)
	after, statErr := f.Stat()
	switch {
	case removed != nil:
		x.Tell.Unfit("remove files", "they can be created, but not removed: "+removed.Error()+"; "+x.path+" stays", "let this user remove what he made there, and remove that file")
	case err != nil:
		x.Tell.Unfit(name, "it cannot be told whether a path names a file: "+err.Error(), onADisk)
	case statErr != nil || before.Links != 1 || after.Links != 0 || !errors.Is(f.Named(), lockfile.ErrReplaced):
		x.Tell.Unfit(name, "a file and its path do not agree on being one, or on being removed", onADisk)
	default:
		x.Tell.Fit(name, "a path is known to name a file, and not to name it once removed")
	}
}
