// Command pkgsftp is a session of the SFTP server of github.com/pkg/sftp, as a subsystem of sshd.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/pkg/sftp"
)

// A stream is what sshd gives a subsystem.
type stream struct {
	io.Reader
	io.WriteCloser
}

func main() {
	s, err := sftp.NewServer(stream{os.Stdin, os.Stdout})
	if err == nil {
		err = s.Serve()
	}
	if err != nil && err != io.EOF {
		fmt.Fprintln(os.Stderr, "pkgsftp:", err)
		os.Exit(1)
	}
}
