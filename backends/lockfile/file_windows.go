package lockfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

type descriptor = *os.File

// markedAttributes are set at creation, and hardly anybody else sets them together. They only
// serve to distinguish a file of ours, whose maker died before it wrote the record, from another
// tool's.
const markedAttributes = windows.FILE_ATTRIBUTE_TEMPORARY | windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED

// Native is the system's spelling of the path of an address: "/C:/locks/a" is
// "C:\\locks\\a".
func Native(path string) string {
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:]
	}
	return filepath.FromSlash(path)
}

func native(path string) string { return Native(path) }

// Create makes a file, for reading and writing, with the mark of our lock files. It fails if
// there is one.
func Create(path string) (*File, error) {
	f, err := open(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.CREATE_NEW)
	if err != nil && isDeleted(path, err) {
		return nil, fs.ErrExist
	}
	return f, err
}

// Share has nothing to do: the rights to the directory decide who may read a file.
func (f *File) Share() error { return nil }

// Prepare has nothing to do.
func Prepare() {}

// isDeleted distinguishes two reasons for a refusal: a file was deleted and goes when the last
// process closes it (true), or we may not create files there.
func isDeleted(path string, err error) bool {
	if !errors.Is(err, fs.ErrPermission) {
		return false
	}
	_, err = os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Open opens whatever is at the path, for reading.
func Open(path string) (*File, error) {
	return open(path, windows.GENERIC_READ, windows.OPEN_EXISTING)
}

// These serve locks whose file stays while they are free. Windows has no such locks.

func CreatePlain(string, uint32) (*File, error) { return nil, errors.ErrUnsupported }
func OpenWritable(string) (*File, error)        { return nil, errors.ErrUnsupported }
func (f *File) TryShared() (bool, error)        { return false, errors.ErrUnsupported }
func (f *File) Truncate() error                 { return errors.ErrUnsupported }

// open lets others read, write and remove the file. The handle is not inherited.
func open(path string, access, how uint32) (*File, error) {
	name, err := windows.UTF16PtrFromString(Native(path))
	if err != nil {
		return nil, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	const flags = windows.FILE_FLAG_OPEN_REPARSE_POINT | windows.FILE_FLAG_BACKUP_SEMANTICS // opens directories, too
	h, err := windows.CreateFile(name, access, share, nil, how, flags|markedAttributes, 0)
	if err != nil {
		return nil, err
	}
	return &File{fd: os.NewFile(uintptr(h), path), path: path}, nil
}

// atPath looks at what has the file's path now.
func (f *File) atPath() (Stat, error) { return statPath(f.path) }

func (f *File) handle() windows.Handle { return windows.Handle(f.fd.Fd()) }

func (f *File) information() (info windows.ByHandleFileInformation, err error) {
	err = windows.GetFileInformationByHandle(f.handle(), &info)
	return info, err
}

// Stat returns what the system knows about the file.
func (f *File) Stat() (Stat, error) {
	if kind, err := windows.GetFileType(f.handle()); err != nil || kind != windows.FILE_TYPE_DISK {
		return Stat{Kind: "a device or pipe"}, err
	}
	info, err := f.information()
	if err != nil {
		return Stat{}, err
	}
	var standard struct { // FILE_STANDARD_INFO
		sizes              [2]int64
		links              uint32
		deleted, directory bool
	}
	err = windows.GetFileInformationByHandleEx(f.handle(), windows.FileStandardInfo, (*byte)(unsafe.Pointer(&standard)), uint32(unsafe.Sizeof(standard)))
	return Stat{
		Dev: uint64(info.VolumeSerialNumber), Ino: uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
		Links: uint64(info.NumberOfLinks), Size: int64(info.FileSizeHigh)<<32 | int64(info.FileSizeLow),
		Modified: time.Unix(0, info.LastWriteTime.Nanoseconds()), Kind: kindOf(info.FileAttributes),
		Marked: info.FileAttributes&markedAttributes == markedAttributes, Deleted: standard.deleted,
		Own: true,
	}, err
}

func kindOf(attributes uint32) string {
	switch {
	case attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0:
		return "a symbolic link"
	case attributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		return "a directory"
	}
	return ""
}

// statPath looks at the path itself, not at what a link there leads to.
func statPath(path string) (Stat, error) {
	f, err := open(path, windows.FILE_READ_ATTRIBUTES, windows.OPEN_EXISTING)
	if err != nil {
		return Stat{}, err
	}
	defer f.Close()
	return f.Stat()
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// lockedByte is far behind all text, because nobody can read a byte that is locked.
var lockedByte = windows.Overlapped{OffsetHigh: 1 << 30}

// TryLock takes the kernel lock (LockFileEx) if nobody has it.
func (f *File) TryLock() (bool, error) {
	where := lockedByte
	err := windows.LockFileEx(f.handle(), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &where)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// Unlink removes the file. It opens a handle for that only now, because while such a handle is
// open, programs that know nothing of sharing cannot read the file. Where the system can (Windows
// 10 and NTFS), the name is free at once, else when the last process closes the file.
func (f *File) Unlink() error {
	again, err := open(f.path, windows.DELETE|windows.FILE_READ_ATTRIBUTES, windows.OPEN_EXISTING)
	if err != nil {
		return err
	}
	defer again.Close()
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := again.Stat(); err != nil || !there.Same(mine) {
		return errors.Join(err, ErrReplaced)
	}
	return again.delete()
}

func (f *File) delete() error {
	const fileDispositionInfoEx, deleteAtOnce = 21, 1 | 2 // with POSIX semantics
	flags := uint32(deleteAtOnce)
	err := windows.SetFileInformationByHandle(f.handle(), fileDispositionInfoEx, (*byte)(unsafe.Pointer(&flags)), uint32(unsafe.Sizeof(flags)))
	if err == nil {
		return nil
	}
	remove := byte(1)
	return windows.SetFileInformationByHandle(f.handle(), windows.FileDispositionInfo, &remove, 1)
}

// TouchQuietly sets the file's time to now.
func (f *File) TouchQuietly() error {
	now := windows.NsecToFiletime(time.Now().UnixNano())
	return windows.SetFileTime(f.handle(), nil, nil, &now)
}

// Write writes all of text.
func (f *File) Write(text string) error {
	_, err := f.fd.WriteString(text)
	return err
}

// Read returns what the file holds, at most limit bytes of it.
func (f *File) Read(limit int) (string, error) {
	text, err := io.ReadAll(io.NewSectionReader(f.fd, 0, int64(limit)))
	return string(text), err
}

// Close closes it.
func (f *File) Close() error { return f.fd.Close() }
