package cli

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/protocol"
)

// completePath offers what is in the directory where a path ends, as an address writes
// it. On a server, and among options, it offers nothing.
func completePath(kind, begun string) (all []cobra.Completion) {
	if begun == "" && isInFiles(kind) {
		return []cobra.Completion{kind + ":/"}
	}
	path, err := url.PathUnescape(begun)
	if !isInFiles(kind) || !strings.HasPrefix(path, "/") || strings.Contains(begun, "?") || err != nil {
		return nil
	}
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(dir) // as much as there is
	for _, e := range entries {
		if name := e.Name(); offers(name, base) {
			all = append(all, kind+":"+escapePath(dir+name)+slashAfter(dir, e))
		}
	}
	return all
}

func isInFiles(kind string) bool {
	return slices.ContainsFunc(backends.Schemes(), func(s backend.Scheme) bool { return s.Name == kind && s.Port == "" })
}

// offers reports whether a name continues base. One that no address can have does not,
// and a hidden one only after a dot.
func offers(name, base string) bool {
	return strings.HasPrefix(name, base) && (base != "" || name[0] != '.') &&
		utf8.ValidString(name) && !strings.ContainsFunc(name, protocol.Misleads)
}

// escapePath writes a path as addresses do.
func escapePath(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3F").Replace(path)
}

func slashAfter(dir string, e fs.DirEntry) string {
	mode := e.Type()
	if mode&fs.ModeSymlink != 0 {
		if st, err := os.Stat(dir + e.Name()); err == nil {
			mode = st.Mode()
		}
	}
	if mode.IsDir() {
		return "/"
	}
	return ""
}
