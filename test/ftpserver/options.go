package ftpserver

import (
	"fmt"
	"slices"
	"time"
)

// Options change a server from what its kind is by itself. Supports tells which options a kind
// has.
type Options struct {
	TLS      bool // AUTH TLS is required, for control and data connections
	TLS12    bool // with TLS: no version 1.3
	Implicit bool // with TLS: it begins before the greeting, without AUTH

	MaxConns   int           // connections from one address at a time
	Idle       time.Duration // the server ends a session that has been silent for so long
	NoTransfer time.Duration // the server ends a session without a transfer for so long

	Unconfined bool // the account sees the whole disk as "/", and logs in to its home, Dir

	NoOverwrite bool // a rename onto anything that exists is refused, even an empty directory
	NoRmdir     bool // the account may make directories, but not remove them
	DenyRename  bool // the account may not rename
	MkdirAll    bool // MKD of what exists succeeds, and RMD removes what is not empty: unfit for locks

	// Hook runs before each call to the file system. Its op is what the command is for: "mkdir",
	// "rmdir", "remove", "rename", "stat", "open" or "chtimes". Hook may sleep; if it returns an
	// error, the call fails with it.
	Hook func(op, name string) error
}

// supported lists the options of each kind.
var supported = map[string][]string{
	"vsftpd":    {"TLS", "TLS12", "Implicit", "MaxConns", "Idle", "Unconfined", "NoRmdir", "DenyRename"},
	"proftpd":   {"TLS", "TLS12", "Implicit", "MaxConns", "Idle", "Unconfined", "NoTransfer", "NoOverwrite", "NoRmdir", "DenyRename"},
	"pureftpd":  {"TLS", "TLS12", "MaxConns", "Idle", "Unconfined"},
	"pyftpdlib": {"TLS", "TLS12", "Implicit", "MaxConns", "Idle", "Unconfined", "NoRmdir", "DenyRename"},
	"inetutils": {"Idle", "Unconfined"},
	"embedded":  {"TLS", "TLS12", "Implicit", "MaxConns", "Idle", "Unconfined", "NoOverwrite", "NoRmdir", "DenyRename", "MkdirAll", "Hook"},
}

// Supports returns nil if servers of the kind can be started with the options.
func Supports(kind string, o Options) error {
	can, known := supported[kind]
	if !known {
		return fmt.Errorf("no kind %q of FTP server", kind)
	}
	for name, set := range o.set() {
		if set && !slices.Contains(can, name) {
			return fmt.Errorf("%s has no option %s", kind, name)
		}
	}
	if kind == "vsftpd" && o.NoRmdir != o.DenyRename {
		return fmt.Errorf("%s refuses RMD and RNFR only together", kind)
	}
	unit := time.Second
	if kind == "pureftpd" {
		unit = time.Minute
	}
	if o.Idle%unit != 0 || o.NoTransfer%unit != 0 {
		return fmt.Errorf("%s counts its limits in units of %v", kind, unit)
	}
	return nil
}

// set reports for each option whether it is given.
func (o Options) set() map[string]bool {
	return map[string]bool{
		"TLS": o.TLS, "TLS12": o.TLS12, "Implicit": o.Implicit,
		"MaxConns": o.MaxConns > 0, "Idle": o.Idle > 0, "NoTransfer": o.NoTransfer > 0,
		"Unconfined": o.Unconfined, "NoOverwrite": o.NoOverwrite, "NoRmdir": o.NoRmdir, "DenyRename": o.DenyRename,
		"MkdirAll": o.MkdirAll, "Hook": o.Hook != nil,
	}
}
