package finder

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// at spells a path as the system does: "/C:/locks" is "C:\\locks".
func (t FileTree) at(path string) string {
	return filepath.FromSlash(strings.TrimPrefix(t.Root+path, "/"))
}

func openDirectory(path string) (*os.File, error) { return os.Open(path) }

// mark is how files of ours are told from others, as their mode is elsewhere.
const mark = windows.FILE_ATTRIBUTE_TEMPORARY | windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED

// Read implements Tree. It does not follow a link.
func (t FileTree) Read(path string) Content {
	st, err := os.Lstat(t.at(path))
	switch {
	case err != nil:
		return Content{Err: err}
	case !st.Mode().IsRegular():
		return Content{Err: syscall.EINVAL}
	}
	data, ok := st.Sys().(*syscall.Win32FileAttributeData)
	c := Content{Sticky: ok && data.FileAttributes&mark == mark, Err: syscall.EFBIG}
	if st.Size() <= MaxText {
		var text []byte
		text, c.Err = os.ReadFile(t.at(path))
		c.Text = string(text)
	}
	return c
}
