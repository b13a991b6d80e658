package flags

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/client"
	"locksmith/protocol"
)

// A File is the flag --for: the file that a lock guards stands for the lock's name. Then only
// the kind of the lock is given.
type File struct {
	Path   string
	Suffix string // of the lock's name; "": the lock is hidden, and ends in .lock
}

// Add declares the flag.
func (f *File) Add(c *cobra.Command) {
	c.Flags().Var((*fileFlag)(f), "for", "the lock beside the file that it guards; LOCK is then only its kind, as in link: (default local:)")
	c.Flags().StringVar(&f.Suffix, "suffix", "", "with --for: the lock is FILE and this, as in .lck, and not hidden")
}

// Lock returns the one lock that the arguments name.
func (f *File) Lock(args []string) (string, error) {
	switch {
	case f.Path == "" && f.Suffix != "":
		return "", Usagef("--suffix is for the lock beside a file: give the file with --for")
	case f.Path == "" && len(args) != 1:
		return "", Usagef("need exactly one lock, have %d", len(args))
	case f.Path == "":
		return args[0], nil
	case len(args) > 1:
		return "", Usagef("need at most the kind of the lock beside --for, have %d arguments", len(args))
	case len(args) == 0:
		args = []string{"local:"}
	}
	scheme, options, ok := strings.Cut(args[0], ":")
	if !ok || !backends.InFiles(scheme+":") || options != "" && !strings.HasPrefix(options, "?") {
		return "", Usagef("beside --for give only the kind of a lock in the file system, such as link: or nfs: alone (for how long to hold it is --max-hold)")
	}
	address, err := client.LockName(scheme, f.Path, f.Suffix)
	if errors.Is(err, client.ErrUsage) {
		return "", &backend.Error{Code: protocol.Usage, Lock: "--for " + f.Path, Op: "find its lock", Err: err, Hint: "give the file that the lock guards"}
	} else if err != nil {
		return "", backend.FileError("--for "+f.Path, "find its lock", err)
	}
	return address + options, nil
}

// Locks returns the locks that the arguments name, at least one.
func (f *File) Locks(args []string) ([]string, error) {
	if f.Path == "" && len(args) == 0 {
		return nil, Usagef("need at least one lock")
	}
	if f.Path == "" && f.Suffix == "" {
		return args, nil
	}
	lock, err := f.Lock(args)
	return []string{lock}, err
}

// A fileFlag is the value of --for.
type fileFlag File

// Set implements pflag.Value.
func (f *fileFlag) Set(name string) error {
	switch {
	case name == "":
		return errors.New("the name of the file is empty: is a variable of the shell unset?")
	case f.Path != "" && f.Path != name: // completions parse flags twice
		return errors.New("it names two files")
	}
	f.Path = name
	return nil
}

// String implements pflag.Value.
func (f *fileFlag) String() string { return f.Path }

// Type names the flag's argument in help texts.
func (f *fileFlag) Type() string { return "file" }
