//go:build unix

package backends

import (
	"io"
	"os"

	"locksmith/backends/backend"
	"locksmith/backends/flock"
	"locksmith/backends/link"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/nfs"
	"locksmith/backends/sftp"
)

const flockScheme = flock.Scheme

func openFlock(a backend.Address) (backend.Backend, error) { return flock.Open(a) }
func openNFS(a backend.Address) (backend.Backend, error)   { return nfs.Open(a) }
func openMkdir(a backend.Address) (backend.Backend, error) { return mkdirlock.Open(a) }
func openLink(a backend.Address) (backend.Backend, error)  { return link.Open(a) }

func openSFTP(a backend.Address, access backend.Access) (backend.Backend, error) {
	return sftp.Open(a, access)
}

// AskpassVariable is set where a locksmith was started by an ssh to ask for a password.
const AskpassVariable = sftp.AskpassVariable

// Askpass writes the answer to such a question. It fails if there is none.
func Askpass(prompt string, to io.Writer) error {
	return sftp.Ask(os.Getenv(AskpassVariable), prompt, to)
}
