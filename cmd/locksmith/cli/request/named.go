package request

import (
	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
)

// Named has the flags that name and reach locks. A command calls Add, and then OpenOne.
type Named struct {
	Connect
	flags.File
}

// Add declares the flags.
func (n *Named) Add(c *cobra.Command, p Program) {
	n.Connect.Add(c, p)
	n.File.Add(c)
}

// OpenOne opens the one lock that the arguments name, as Open does.
func (n *Named) OpenOne(args []string) (b backend.Backend, address string, err error) {
	lock, err := n.Lock(args)
	if err != nil {
		return nil, "", err
	}
	return n.Open(lock)
}
