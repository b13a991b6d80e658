package ftpserver

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

// A tree is what an account of the embedded server sees: a directory of the disk, with the file
// system's rules as the options change them.
type tree struct {
	*afero.BasePathFs
	dir string
	o   Options
}

func newTree(s *site) *tree {
	root := s.root
	if s.Unconfined {
		root = "/"
	}
	return &tree{afero.NewBasePathFs(afero.NewOsFs(), root).(*afero.BasePathFs), root, s.Options}
}

// real returns a file's path on the disk.
func (t *tree) real(name string) string {
	return filepath.Join(t.dir, filepath.Clean("/"+name))
}

// hook lets the test delay or fail a call.
func (t *tree) hook(op, name string) error {
	if t.o.Hook == nil {
		return nil
	}
	return t.o.Hook(op, name)
}

func (t *tree) Mkdir(name string, mode os.FileMode) error {
	if err := t.hook("mkdir", name); err != nil {
		return err
	}
	if t.o.MkdirAll {
		return t.BasePathFs.MkdirAll(name, mode)
	}
	return t.BasePathFs.Mkdir(name, mode)
}

// RemoveDir executes RMD. Unlike Remove of the library's files, it removes no files.
func (t *tree) RemoveDir(name string) error {
	if err := t.hook("rmdir", name); err != nil {
		return err
	}
	switch {
	case t.o.NoRmdir:
		return &os.PathError{Op: "rmdir", Path: name, Err: syscall.EACCES}
	case t.o.MkdirAll:
		return t.RemoveAll(name)
	}
	return syscall.Rmdir(t.real(name))
}

// Remove executes DELE.
func (t *tree) Remove(name string) error {
	if err := t.hook("remove", name); err != nil {
		return err
	}
	return syscall.Unlink(t.real(name))
}

// Rename uses the system call, not os.Rename, which refuses to replace an empty directory.
func (t *tree) Rename(from, to string) error {
	if err := t.hook("rename", from); err != nil {
		return err
	}
	if t.o.DenyRename {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EACCES}
	}
	if t.o.NoOverwrite {
		return renameToNew(t.real(from), t.real(to))
	}
	return syscall.Rename(t.real(from), t.real(to))
}

func (t *tree) Stat(name string) (os.FileInfo, error) {
	if err := t.hook("stat", name); err != nil {
		return nil, err
	}
	return t.BasePathFs.Stat(name)
}

func (t *tree) Open(name string) (afero.File, error) {
	if err := t.hook("open", name); err != nil {
		return nil, err
	}
	return t.BasePathFs.Open(name)
}

func (t *tree) OpenFile(name string, flag int, mode os.FileMode) (afero.File, error) {
	if err := t.hook("open", name); err != nil {
		return nil, err
	}
	return t.BasePathFs.OpenFile(name, flag, mode)
}

func (t *tree) Chtimes(name string, atime, mtime time.Time) error {
	if err := t.hook("chtimes", name); err != nil {
		return err
	}
	return t.BasePathFs.Chtimes(name, atime, mtime)
}
