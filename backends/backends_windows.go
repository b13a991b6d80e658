package backends

import (
	"errors"
	"io"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// Windows has no flock(2). The other kinds that are missing rely on what its file systems do
// differently: a directory cannot be renamed onto an empty one, nor while somebody has something
// in it open.
const flockScheme = "flock"

func openFlock(a backend.Address) (backend.Backend, error) { return notHere(a) }
func openNFS(a backend.Address) (backend.Backend, error)   { return notHere(a) }
func openMkdir(a backend.Address) (backend.Backend, error) { return notHere(a) }
func openLink(a backend.Address) (backend.Backend, error)  { return notHere(a) }

func openSFTP(a backend.Address, _ backend.Access) (backend.Backend, error) { return notHere(a) }

// AskpassVariable is never set here.
const AskpassVariable = "LOCKSMITH_ASKPASS"

// Askpass is for sftp:.
func Askpass(string, io.Writer) error { return errors.ErrUnsupported }

func notHere(a backend.Address) (backend.Backend, error) {
	return nil, &backend.Error{Code: protocol.CannotCreate, Lock: a.String(), Op: "open",
		Err:  errors.New(a.Scheme + ": is not supported on windows"),
		Hint: "use local: among the processes of one machine, or ftp: between machines"}
}
