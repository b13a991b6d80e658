//go:build unix

// Package kinds has the kinds of locks, for tests that ask each of them the same: what each can,
// where its locks are, and what one does to such a place. A new kind gets an entry in All.
//
//	for _, k := range kinds.All(t) {
//		t.Run(k.Title, func(t *testing.T) {
//			l := k.Lock(t)
//			cmd := exec.Command(k.Program, "run", l.Address, "--", "true")
//			cmd.Env = append(os.Environ(), k.Env...)
//			…
//		})
//	}
package kinds

import (
	"os"
	"path/filepath"
	"testing"

	"locksmith/test/etcdserver"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
	"locksmith/test/s3server"
	"locksmith/test/sftpserver"
)

// A Kind is a kind of lock, with where its locks are made.
type Kind struct {
	Title   string // the scheme, and the style: "ftp:?style=dir"
	Program string // the path of the program that has it
	Env     []string
	Netrc   string // what ~/.netrc of its users has; "": nothing

	Kernel bool // the kernel alone keeps it: it has no lease, and its file is a user's
	Host   bool // it is for the processes of one machine
	Server bool // a server has it
	Files  bool // a lock is a file that locksmith made, not a directory
	Plain  bool // a lock is a directory that any program may make
	Shared bool // it can be shared
	Tokens bool // it has fencing tokens
	Once   bool // it puts down the last success, for --once-per
	List   bool // list looks for such locks
	Doctor bool // doctor examines its places

	root    string // the directory on this disk below which its places are; "": a store has them
	scheme  string
	address func(path string) string // path is relative to root
	store   store
	uid     int // the user on whose behalf its server makes files
}

// A store has keys, and no directories.
type store interface {
	Keys(t testing.TB, prefix string) []string
	Put(t testing.TB, key, text string)
	Remove(t testing.TB, key string)
}

// Servers are the servers that have the places of some kinds.
type Servers struct {
	FTP  *ftpserver.Server
	SFTP *sftpserver.Server
	S3   *s3server.Server
	Etcd *etcdserver.Cluster
}

// Cheap are FTP and S3 servers in the test's process, a member of etcd, and OpenSSH, all of whose users share one
// connection.
func Cheap(t testing.TB) Servers {
	t.Helper()
	return Servers{ftpserver.Start(t, "embedded", ftpserver.Options{}), sftpserver.Start(t, sftpserver.Options{}), s3server.Start(t, s3server.Embedded), etcdserver.Start(t, etcdserver.Options{})}
}

// Real are servers as sites run them.
func Real(t testing.TB) Servers {
	t.Helper()
	return Servers{ftpserver.Start(t, "proftpd", ftpserver.Options{}), sftpserver.Start(t, sftpserver.Options{}), s3server.Start(t, "versitygw-1.8.0"), etcdserver.Start(t, etcdserver.Options{})}
}

// All returns all kinds. The servers must run as long as t does.
func All(t testing.TB, s Servers) []Kind {
	t.Helper()
	locksmith, dir := lab.Program(t, "cmd/locksmith"), t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755)) // every user may come here
	t.Cleanup(func() { removeAll(t, dir) })                           // what was killed last may still end
	disk := func(scheme, options string) Kind {
		return Kind{Title: scheme + ":" + options, Program: locksmith, List: true, Doctor: true, root: dir, scheme: scheme,
			address: func(path string) string { return scheme + ":" + filepath.Join(dir, path) + options }}
	}
	served := func(k Kind, scheme, root string, address func(string) string) Kind {
		k.Server, k.List, k.Doctor, k.scheme, k.root, k.address = true, true, true, scheme, root, address
		return k
	}
	local, flock, link := disk("local", ""), disk("flock", ""), disk("link", "")
	plain, tree, nfs := disk("mkdir", ""), disk("mkdir", "?style=dir"), disk("nfs", "")
	local.Host, local.Files, local.Once = true, true, true
	flock.Host, flock.Kernel, flock.Shared, flock.Once = true, true, true, true
	link.Files = true
	plain.Plain = true
	tree.Shared, tree.Tokens, tree.Once = true, true, true
	nfs.Shared, nfs.Tokens, nfs.Once = true, true, true

	sftp := served(Kind{Title: "sftp:", Program: locksmith, Shared: true, Tokens: true, Once: true,
		Env: []string{"LOCKSMITH_SSH=" + s.SFTP.Shared()}, uid: s.SFTP.UID}, "sftp", s.SFTP.Home, s.SFTP.Address)
	atFTP := func(options string) Kind {
		return served(Kind{Title: "ftp:" + options, Program: locksmith, Netrc: "machine 127.0.0.1 login " + s.FTP.User + " password " + s.FTP.Password + "\n"}, "ftp", s.FTP.Dir,
			func(path string) string { return "ftp://" + s.FTP.User + "@" + s.FTP.Addr + "/" + path + options })
	}
	ftp, ftpTree := atFTP(""), atFTP("?style=dir")
	ftp.Plain = true
	ftpTree.Shared, ftpTree.Tokens, ftpTree.Once = true, true, true
	s3 := served(Kind{Title: "s3:", Program: lab.Program(t, "cmd/locksmith-remote"), Tokens: true, Once: true, store: s.S3}, "s3", "",
		func(path string) string { return s3server.Address(s.S3.Endpoint, path) })
	etcd := served(Kind{Title: "etcd:", Program: s3.Program, Shared: true, Tokens: true, Once: true, store: s.Etcd}, "etcd", "", s.Etcd.Address)
	table := disk("table", "")
	table.Program, table.Files, table.Doctor = example(t), false, false
	return []Kind{local, flock, link, plain, tree, nfs, sftp, ftp, ftpTree, s3, etcd, table}
}

// OnDisk reports whether its places are directories that this machine sees.
func (k Kind) OnDisk() bool { return k.root != "" }
