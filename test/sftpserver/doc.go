// Package sftpserver starts SFTP servers for tests: OpenSSH's, ProFTPD's, that of asyncssh and
// that of the Go library pkg/sftp. Each has an account, keys and a directory of its own, and a
// reserved port on 127.0.0.1, until the test ends. Starting one takes root.
package sftpserver
