//go:build linux && amd64

package crash

import (
	"path/filepath"
	"regexp"
	"strings"
)

// A kind is a kind of lock, with what stays of a free one.
type kind struct {
	name    string
	scheme  string // of the address
	options string // of the address
	shared  bool
	server  string         // the lock's server; "": it is on this disk
	stays   *regexp.Regexp // names below the place that stay, with <id> for what is never the same twice
}

var (
	nothing     = regexp.MustCompile(`^$`)
	file        = regexp.MustCompile(`^L$`)
	generations = regexp.MustCompile(`^L(/G|/R|/G/lock\.\d+)?$`)
	tree        = regexp.MustCompile(`^L(/lock|/fence\.<n>)?$`)
)

// onDisk are the kinds of locks that a local directory can have.
var onDisk = []kind{
	{name: "local:", scheme: "local", stays: nothing},
	{name: "flock:", scheme: "flock", stays: file},
	{name: "nfs:", scheme: "nfs", stays: generations},
	{name: "nfs: shared", scheme: "nfs", shared: true, stays: generations},
	{name: "mkdir:", scheme: "mkdir", stays: nothing},
	{name: "mkdir:?style=dir", scheme: "mkdir", options: "?style=dir", stays: tree},
	{name: "mkdir:?style=dir shared", scheme: "mkdir", options: "?style=dir", shared: true, stays: tree},
	{name: "link:", scheme: "link", stays: nothing},
}

// isPlain reports whether this is the kind that does not always heal itself.
func (k kind) isPlain() bool { return (k.scheme == "mkdir" || k.scheme == "ftp") && !k.isDirStyle() }

// isKernels reports whether the kernel alone decides about the lock: it has no lease, and its holder
// changes nothing while it holds it or lets it go.
func (k kind) isKernels() bool { return k.scheme == "flock" }

func (k kind) isDirStyle() bool { return strings.Contains(k.options, "style=dir") }

// names returns the names that a place with such a lock has in the table of mishaps.
func (k kind) names() []string { return []string{k.name, k.scheme + ":"} }

// address returns the address of the lock L in a directory.
func (k kind) address(dir string) string {
	return k.scheme + ":" + filepath.Join(dir, "L") + k.options
}
