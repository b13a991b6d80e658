//go:build unix

package history

import (
	"fmt"
	"slices"

	"locksmith/test/etcdserver"
	"locksmith/test/ftpserver"
	"locksmith/test/s3server"
)

// A kind is a kind of lock, or of sets of locks, under test.
type kind struct {
	name string
	// locks are the addresses of a cell's locks. %s is a directory of the cell's own.
	locks []string
	// wishes are what the contenders of a cell want, as positions in locks. A share of the lock
	// at position n is written as -1-n.
	wishes [][]int
	// endsOnLoss: only proof frees these locks soon, so a parent ends when its helper dies.
	endsOnLoss bool
	// kernelDrops: the kernel frees this lock when its helper dies, so that a parent is outside from
	// then on, whenever it learns of it.
	kernelDrops bool
	// emptyStays: an empty directory may block the lock until an operator comes.
	emptyStays bool
	pool       bool   // parents have their helpers serve one lock after another
	more       string // further settings for the profiles
	cells      int
	// helpers are the programs that its contenders use in turn, "" for this version; nil: all
	// use this version.
	helpers []string
}

// shared is a wish for a share of the lock at a position.
func shared(position int) int { return -1 - position }

func alone(n int) [][]int { return slices.Repeat([][]int{{0}}, n) }

// kinds returns all kinds. s is the server for the FTP kinds, store the one for objects, cluster that
// of etcd, and flock1 a helper that locks with flock(1).
func kinds(s *ftpserver.Server, store *s3server.Server, cluster *etcdserver.Cluster, flock1 string) []kind {
	ftp := fmt.Sprintf("ftp://%s@%s/%%[2]s", s.User, s.Addr)
	mixed := [][]int{{0}, {0}, {shared(0)}, {shared(0)}}
	const often = "poll = \"5ms..20ms\"\nslow = \"20ms..60ms\"\n"
	const remote = "poll = \"10ms..40ms\"\nslow = \"40ms..120ms\"\n"
	return []kind{
		{name: "local:", locks: []string{"local:%s/a"}, wishes: alone(3), cells: 4},
		{name: "local: in a queue", locks: []string{"local:%s/a"}, wishes: alone(10), cells: 2},
		{name: "local: of a pool", locks: []string{"local:%s/a"}, wishes: alone(4), pool: true, cells: 2},
		{name: "flock:", locks: []string{"flock:%s/a"}, wishes: alone(3), kernelDrops: true, cells: 2},
		{name: "flock: with shared", locks: []string{"flock:%s/a"}, wishes: mixed, kernelDrops: true, cells: 2},
		{name: "flock: beside flock(1)", locks: []string{"flock:%s/a"}, wishes: alone(4), kernelDrops: true, cells: 2, helpers: []string{"", flock1}},
		{name: "flock: of a pool", locks: []string{"flock:%s/a"}, wishes: alone(4), kernelDrops: true, pool: true, cells: 2},
		{name: "nfs: of a pool", locks: []string{"nfs:%s/a"}, wishes: alone(3), more: often, pool: true, cells: 2},
		{name: "nfs:", locks: []string{"nfs:%s/a"}, wishes: alone(3), more: often, cells: 4},
		{name: "nfs: with shared", locks: []string{"nfs:%s/a"}, wishes: mixed, more: often, cells: 4},
		{name: "mkdir:", locks: []string{"mkdir:%s/a"}, wishes: alone(3), more: often, emptyStays: true, cells: 4},
		{name: "mkdir:?style=dir", locks: []string{"mkdir:%s/a?style=dir"}, wishes: alone(3), more: often, cells: 4},
		{name: "link:", locks: []string{"link:%s/a"}, wishes: alone(3), more: often, endsOnLoss: true, cells: 4},
		{name: "ftp:", locks: []string{ftp + "/a"}, wishes: alone(3), more: remote, emptyStays: true, cells: 2},
		{name: "ftp:?style=dir", locks: []string{ftp + "/a?style=dir"}, wishes: alone(3), more: remote, cells: 2},
		{name: "s3:", locks: []string{s3server.Address(store.Endpoint, "%[2]s")}, wishes: alone(3), more: remote, cells: 2},
		{name: "etcd:", locks: []string{cluster.Address("%[2]s")}, wishes: alone(3), cells: 2},
		{name: "etcd: with shared", locks: []string{cluster.Address("%[2]s")}, wishes: mixed, cells: 2},
		{name: "nfs: + local:", locks: []string{"nfs:%s/a", "local:%s/b"}, wishes: [][]int{{0, 1}, {1, 0}, {0}, {1}}, more: often, cells: 4},
		{name: "nfs: + mkdir:?style=dir", locks: []string{"nfs:%s/a", "mkdir:%s/b?style=dir"}, wishes: [][]int{{shared(0), 1}, {1, 0}, {shared(0)}, {1}}, more: often, cells: 2},
	}
}
