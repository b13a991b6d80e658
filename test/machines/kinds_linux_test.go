package machines

import (
	"os"
	"strings"
	"testing"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
	"locksmith/test/s3server"
	"locksmith/test/sftpserver"
)

// A kind is a kind of lock in a place of this test's.
type kind struct {
	name    string
	address string // NAME stands for that of a lock
	env     []string
	disk    bool   // doctor looks at the kernel, too
	program string // which has it; "": program
}

// lock is the address of a lock by its name.
func (k kind) lock(name string) string { return strings.ReplaceAll(k.address, "NAME", name) }

// disk returns the kinds of locks on a disk.
func disk(t *testing.T) []kind {
	t.Helper()
	var all []kind
	for _, name := range []string{"local:", "link:", "mkdir:", "mkdir:?style=dir", "nfs:"} {
		scheme, query, _ := strings.Cut(name, "?")
		if query != "" {
			query = "?" + query
		}
		all = append(all, kind{name: name, address: scheme + t.TempDir() + "/NAME" + query, disk: true})
	}
	return all
}

// served returns the kinds of locks on servers. Nothing refuses the servers a call.
func served(t *testing.T) []kind {
	t.Helper()
	ftp, sftp, s3 := ftpserver.Start(t, "embedded", ftpserver.Options{}), sftpserver.Start(t, sftpserver.Options{}), s3server.Start(t, s3server.Embedded)
	return []kind{
		{name: "ftp:?style=dir", address: "ftp://" + ftp.User + "@" + ftp.Addr + "/NAME?style=dir", env: []string{"LOCKSMITH_PASSWORD=" + ftp.Password}},
		{name: "sftp:", address: sftp.Address("NAME"), env: []string{"LOCKSMITH_SSH=" + sftp.SSH}},
		{name: "s3:", address: s3server.Address(s3.Endpoint, "NAME")},
	}
}

// program builds the program that has all kinds.
func program(t *testing.T) string {
	t.Helper()
	return lab.Program(t, "cmd/locksmith-remote")
}

// with is this process's environment and a kind's.
func (k kind) with() []string { return append(os.Environ(), k.env...) }
