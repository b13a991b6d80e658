//go:build unix

// Command peer is the floor for a program with locksmith's duties, but without locks: it links
// the libraries that locksmith links, so that they initialise themselves, and catches the signals
// that locksmith run passes on. The time that locksmith takes beyond this is its own.
package main

import (
	"os"
	"os/signal"
	"syscall"

	_ "github.com/BurntSushi/toml"
	_ "github.com/git-lfs/go-netrc/netrc"
	_ "github.com/hashicorp/go-hclog"
	_ "github.com/jlaffaye/ftp" // and with it crypto/tls
	_ "github.com/spf13/cobra"

	"locksmith/test/bench/bare"
)

func main() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT,
		syscall.SIGPIPE, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP)
	bare.Main()
}
