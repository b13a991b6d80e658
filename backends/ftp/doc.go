// Package ftp locks on an FTP server.
package ftp
