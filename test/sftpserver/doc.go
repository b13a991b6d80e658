// Package sftpserver starts OpenSSH's SFTP servers for tests: each with an account, keys and a
// directory of its own, at a reserved port on 127.0.0.1, until the test ends. It takes root.
package sftpserver
