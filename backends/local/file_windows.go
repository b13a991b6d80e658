package local

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

type descriptor = *os.File

// unfinishedMark are attributes that are set at creation, and that hardly anybody else
// sets together. Their only use is to tell a file of ours whose maker died before it
// wrote the record from another tool's.
const unfinishedMark = windows.FILE_ATTRIBUTE_TEMPORARY | windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED

func create(path string) (*file, error) {
	f, err := open(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.CREATE_NEW)
	if err != nil && isDeleted(path, err) {
		return nil, fs.ErrExist
	}
	return f, err
}

// isDeleted tells a file that was deleted, and goes when the last one closes it, from
// a place where we may not create any.
func isDeleted(path string, err error) bool {
	if !errors.Is(err, fs.ErrPermission) {
		return false
	}
	_, err = os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// openExisting opens what is there for reading. It does not follow a link, and returns
// notRegularError for what is not a file.
func openExisting(path string) (*file, error) {
	f, err := open(path, windows.GENERIC_READ, windows.OPEN_EXISTING)
	if err != nil {
		return nil, err
	}
	info, err := f.information()
	switch kind, _ := windows.GetFileType(f.handle()); {
	case err != nil || kind != windows.FILE_TYPE_DISK:
		err = errors.Join(err, notRegularError("a device or pipe"))
	case info.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0:
		err = notRegularError("a symbolic link")
	case info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		err = notRegularError("a directory")
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// open lets others read, write and remove the file. Its handle is not inherited.
func open(path string, access, how uint32) (*file, error) {
	name, err := windows.UTF16PtrFromString(native(path))
	if err != nil {
		return nil, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	const flags = windows.FILE_FLAG_OPEN_REPARSE_POINT | windows.FILE_FLAG_BACKUP_SEMANTICS // opens directories, too
	h, err := windows.CreateFile(name, access, share, nil, how, flags|unfinishedMark, 0)
	if err != nil {
		return nil, err
	}
	return &file{fd: os.NewFile(uintptr(h), path), path: path}, nil
}

func (f *file) handle() windows.Handle { return windows.Handle(f.fd.Fd()) }

func (f *file) information() (info windows.ByHandleFileInformation, err error) {
	err = windows.GetFileInformationByHandle(f.handle(), &info)
	return info, err
}

func (f *file) stat() (status, error) {
	info, err := f.information()
	if err != nil {
		return status{}, err
	}
	var standard struct { // FILE_STANDARD_INFO
		sizes              [2]int64
		links              uint32
		deleted, directory bool
	}
	err = windows.GetFileInformationByHandleEx(f.handle(), windows.FileStandardInfo, (*byte)(unsafe.Pointer(&standard)), uint32(unsafe.Sizeof(standard)))
	return status{
		deleted: standard.deleted,
		volume:  uint64(info.VolumeSerialNumber), index: uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
		links: uint64(info.NumberOfLinks), size: int64(info.FileSizeHigh)<<32 | int64(info.FileSizeLow),
		modified: time.Unix(0, info.LastWriteTime.Nanoseconds()), marked: info.FileAttributes&unfinishedMark == unfinishedMark,
	}, err
}

// statPath is the status of what a path names itself, or errNotOurs if it names nothing.
func statPath(path string) (status, error) {
	f, err := open(path, windows.FILE_READ_ATTRIBUTES, windows.OPEN_EXISTING)
	if errors.Is(err, fs.ErrNotExist) {
		err = errNotOurs
	}
	if err != nil {
		return status{}, err
	}
	defer f.close()
	return f.stat()
}

// lockedByte is far behind all that is written: nobody can read what is locked.
var lockedByte = windows.Overlapped{OffsetHigh: 1 << 30}

// tryLock takes the kernel lock if nobody has it.
func (f *file) tryLock() (bool, error) {
	where := lockedByte
	err := windows.LockFileEx(f.handle(), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &where)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// Files are not kept here.

func createKept(string) (*file, error)   { return nil, errors.ErrUnsupported }
func openKept(string) (*file, error)     { return nil, errors.ErrUnsupported }
func (f *file) tryShared() (bool, error) { return false, errors.ErrUnsupported }
func (f *file) refill() error            { return errors.ErrUnsupported }
func (f *file) empty() error             { return errors.ErrUnsupported }

// unlink removes the file. The handle that may do that is opened only now: while it is,
// programs cannot read the file that know nothing of sharing. Where the system can
// (Windows 10 and NTFS) the name is free at once, else when the last one closes it.
func (f *file) unlink() error {
	again, err := open(f.path, windows.DELETE|windows.FILE_READ_ATTRIBUTES, windows.OPEN_EXISTING)
	if err != nil {
		return err
	}
	defer again.close()
	mine, err := f.stat()
	if err != nil {
		return err
	}
	if there, err := again.stat(); err != nil || !there.isSame(mine) {
		return errors.Join(err, errNotOurs)
	}
	return again.delete()
}

func (f *file) delete() error {
	const fileDispositionInfoEx, deleteAtOnce = 21, 1 | 2 // with POSIX semantics
	flags := uint32(deleteAtOnce)
	err := windows.SetFileInformationByHandle(f.handle(), fileDispositionInfoEx, (*byte)(unsafe.Pointer(&flags)), uint32(unsafe.Sizeof(flags)))
	if err == nil {
		return nil
	}
	remove := byte(1)
	return windows.SetFileInformationByHandle(f.handle(), windows.FileDispositionInfo, &remove, 1)
}

// touch sets the file's time to now.
func (f *file) touch() error {
	now := windows.NsecToFiletime(time.Now().UnixNano())
	return windows.SetFileTime(f.handle(), nil, nil, &now)
}

func (f *file) write(text string) error {
	_, err := f.fd.WriteString(text)
	return err
}

func (f *file) text(limit int) (string, error) {
	text, err := io.ReadAll(io.NewSectionReader(f.fd, 0, int64(limit)))
	return string(text), err
}

func (f *file) close() { _ = f.fd.Close() }
