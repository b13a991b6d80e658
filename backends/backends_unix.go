//go:build unix

package backends

import (
	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/link"
	"locksmith/backends/local"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/nfs"
)

func openNFS(a backend.Address) (backend.Backend, error)   { return nfs.Open(a) }
func openMkdir(a backend.Address) (backend.Backend, error) { return mkdirlock.Open(a) }
func openLink(a backend.Address) (backend.Backend, error)  { return link.Open(a) }

// treeKinds are the kinds of locks on file systems.
func treeKinds(dir string) ([]finder.FileKind, []finder.DirectoryKind) {
	return []finder.FileKind{local.Kind(dir), link.Kind(dir)}, []finder.DirectoryKind{nfs.Kind(dir), mkdirlock.Kind(dir)}
}
