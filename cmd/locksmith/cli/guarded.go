package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/client"
	"locksmith/protocol"
)

// A guarded file may stand for the name of its lock (--for). Of the lock only its
// kind is given then.
type guarded struct {
	file string
	most *seconds // where a duration goes; nil: none is taken
}

func (g *guarded) flags(c *cobra.Command) {
	usage := "the lock beside the file that it guards; LOCK is then only its kind, as in link: (default local:)"
	if g.most != nil {
		usage = "hold for so long at most, as in 8h; or " + usage + "; once for each"
	}
	c.Flags().Var((*forFlag)(g), "for", usage)
}

// lock returns the one lock that the arguments name.
func (g *guarded) lock(args []string) (string, error) {
	switch {
	case g.file == "":
		return args0(args)
	case len(args) > 1:
		return "", usageError{fmt.Errorf("need at most the kind of the lock beside --for, have %d arguments", len(args))}
	case len(args) == 0:
		args = []string{"local:"}
	}
	scheme, options, ok := strings.Cut(args[0], ":")
	i := slices.IndexFunc(backends.Schemes(), func(s backend.Scheme) bool { return s.Name == scheme && s.Port == "" })
	if !ok || i < 0 || options != "" && !strings.HasPrefix(options, "?") {
		return "", usageError{errors.New("beside --for give only the kind of a lock in the file system, such as link: or nfs: alone (and write a duration as in 8h or 90m)")}
	}
	address, err := client.LockName(scheme, g.file)
	if errors.Is(err, client.ErrNoName) {
		return "", &backend.Error{Code: protocol.Usage, Lock: "--for " + g.file, Op: "find its lock", Err: err, Hint: "give the file that the lock guards"}
	} else if err != nil {
		return "", backend.FileError("--for "+g.file, "find its lock", err)
	}
	return address + options, nil
}

// locks returns the locks that the arguments name, at least one.
func (g *guarded) locks(args []string) ([]string, error) {
	if g.file == "" && len(args) == 0 {
		return nil, usageError{errors.New("need at least one lock")}
	}
	if g.file == "" {
		return args, nil
	}
	lock, err := g.lock(args)
	return []string{lock}, err
}

// args0 is the only argument.
func args0(args []string) (string, error) {
	if err := oneLock(args); err != nil {
		return "", err
	}
	return args[0], nil
}
