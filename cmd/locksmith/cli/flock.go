package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/locksmith"
	"locksmith/locksmith/child"
	"locksmith/protocol"
)

// flocking is one command line of flock(1).
type flocking struct {
	mode     byte // 's', 'x' or 'u'
	once     bool // -n
	wait     time.Duration
	conflict int
	closes   bool
	becomes  bool
	verbose  bool
	version  bool
	file     string
	argv     []string // nil: lock the descriptor
	fd       int
	waited   bool // for the descriptor, as long as it may (lockDescriptor)
}

// flock is flock(1) of util-linux 2.38, by run with flock:.
func (a *app) flock() *cobra.Command {
	o := &flocking{mode: 'x', wait: locksmith.Forever, conflict: 1}
	c := &cobra.Command{
		Use:   "flock [flags] FILE|DIRECTORY COMMAND [ARG…]",
		Short: "Do what flock(1) does, in its own words",
		Long: "Take the place of flock(1): the same lock, options, messages and exit statuses. It is the lock of\n" +
			"flock:FILE, so status, list and metrics tell who has it. Instead of COMMAND there may be -c LINE for\n" +
			"the shell. A NUMBER alone locks that open descriptor, and leaves it locked. A link to locksmith that\n" +
			"is called flock is this command.",
		Example:               "  locksmith flock -n /tmp/nightly.flock ./nightly\n  (locksmith flock -w 10 9 && ./nightly) 9>/tmp/nightly.flock",
		DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if o.version {
				return a.version().RunE(nil, nil)
			}
			a.status = a.flockStatus(o, args)
			return nil
		},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { a.status = o.misread(err); return nil })
	f := c.Flags()
	f.SetInterspersed(false)
	f.BoolFuncP("shared", "s", "share the lock with others that share it", func(string) error { o.mode = 's'; return nil })
	f.BoolFuncP("exclusive", "x", "do not share it (the default); also -e", func(string) error { o.mode = 'x'; return nil })
	f.BoolFuncP("unlock", "u", "unlock the descriptor; with a COMMAND take no lock", func(string) error { o.mode = 'u'; return nil })
	f.BoolVarP(&o.once, "nonblock", "n", false, "try once; also --nb")
	f.FuncP("timeout", "w", "give up after so many `seconds`, 0: try once; also --wait", o.setWait)
	f.FuncP("conflict-exit-code", "E", "exit `status` if somebody else keeps the lock (default 1)", o.setConflict)
	f.BoolVarP(&o.closes, "close", "o", false, "keep the lock from COMMAND, so that what it leaves running has none")
	f.BoolVarP(&o.becomes, "no-fork", "F", false, "become COMMAND, which has the lock then")
	f.BoolVar(&o.verbose, "verbose", false, "tell how long the lock took, or that it was not to be had")
	f.BoolVarP(&o.version, "version", "V", false, "print the version")
	f.BoolVar(&o.waited, "waited", false, "")
	f.Lookup("waited").Hidden = true
	for _, also := range [][3]string{{"e", "e", "exclusive"}, {"nb", "", "nonblock"}, {"nonblocking", "", "nonblock"}, {"wait", "", "timeout"}} {
		named := f.Lookup(also[2])
		alias := f.VarPF(named.Value, also[0], also[1], named.Usage)
		alias.Hidden, alias.NoOptDefVal = true, named.NoOptDefVal
	}
	return c
}

// flockStatuses returns what each exit status of flock means.
func flockStatuses() []Entry {
	return []Entry{{"0", "the descriptor is locked, or unlocked; or COMMAND's own status, as any other"}, {"1", "somebody else has the lock (-E chooses another)"},
		{"64", "the command line makes no sense"}, {"65", "the descriptor cannot be locked"}, {"66", "FILE cannot be opened"}, {"69", "COMMAND cannot be run"},
		{"71", "a fault of the system"}, {"73", "FILE cannot be made, or the place is not fit for the lock"}, {"75", "it would wait for itself"}}
}

func (o *flocking) setWait(text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0) {
		return flags.Usagef("invalid timeout value: '%s'", text)
	}
	o.wait = time.Duration(min(seconds, 1e7)*1e6) * time.Microsecond
	return nil
}

func (o *flocking) setConflict(text string) (err error) {
	if o.conflict, err = integer(text, "invalid exit code"); err == nil && (o.conflict < 0 || o.conflict > 255) {
		err = flags.Usagef("exit code out of range (expected 0 to 255)")
	}
	return err
}

func integer(text, invalid string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		err = flags.Usagef("%s: '%s'", invalid, text)
	}
	return int(n), err
}

// flockStatus does what a command line says, and returns the exit status.
func (a *app) flockStatus(o *flocking, args []string) int {
	if len(a.self.Args) == 1 {
		return o.misread(errors.New("not enough arguments"))
	}
	err := o.read(args)
	switch {
	case err != nil:
		return o.misread(err)
	case o.argv == nil:
		start := clock.Boot{}.Now()
		if err = o.lockDescriptor(a.self.Args); err == nil {
			o.granted(clock.Boot{}.Now() - start)
		}
	case o.mode == 'u':
		command := &child.Command{Argv: o.argv, Becomes: true, Tell: func(*backend.HeldError) { o.granted(0) }}
		if err = command.Prepare(context.Background()); err == nil {
			err = command.Start(protocol.Grant{})
		}
	default:
		err = a.runFlock(o)
	}
	if err != nil {
		return o.end(nil, err)
	}
	return a.status
}

// read reads what follows the flags.
func (o *flocking) read(args []string) (err error) {
	switch {
	case o.closes && o.becomes:
		return flags.Usagef("the --no-fork and --close options are incompatible")
	case len(args) == 0:
		return flags.Usagef("requires file descriptor, file or directory")
	case len(args) == 1:
		o.fd, err = integer(args[0], "bad file descriptor")
	case args[1] != "-c" && args[1] != "--command":
		o.argv = args[1:]
	case len(args) != 3:
		return flags.Usagef("%s requires exactly one command argument", args[1])
	default:
		o.argv = shell(args[2])
	}
	if o.file = args[0]; o.once || o.waited {
		o.wait = 0
	}
	return err
}

// path is the file's absolute path without "..", as an address needs it.
func (o *flocking) path() (string, error) {
	dir, name := filepath.Split(o.file)
	switch {
	case o.file == "":
		return "", syscall.ENOENT
	case name == "" || name == "..":
		dir, name = o.file, ""
	}
	dir, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(dir, name))
}

// runFlock is run with the flags that mean the same.
func (a *app) runFlock(o *flocking) error {
	path, err := o.path()
	if err != nil {
		return err
	}
	r := &running{flock: o}
	like := []string{"--quiet", "--log-level=off", fmt.Sprintf("--shared=%t", o.mode == 's')}
	if o.wait != locksmith.Forever {
		like = append(like, "--timeout="+o.wait.String())
	}
	if err := a.runAs(r).ParseFlags(like); err != nil {
		return err
	}
	r.closes, r.becomes = o.closes, o.becomes
	return a.runCommand(r, []string{"flock:" + backend.EscapePath(path)}, o.argv)
}

// granted tells that the lock was taken.
func (o *flocking) granted(waited time.Duration) {
	if o.verbose {
		fmt.Printf("locksmith: getting lock took %d.%06d seconds\n", waited/time.Second, waited%time.Second/time.Microsecond)
		if o.argv != nil {
			fmt.Printf("locksmith: executing %s\n", show.Text(o.argv[0]))
		}
	}
}

// misread tells in the words of getopt_long(3) what is wrong with a command line.
func (o *flocking) misread(err error) int {
	var own flags.UsageError
	var unknown *pflag.NotExistError
	var lacks *pflag.ValueRequiredError
	text, hint := err.Error(), "Try 'locksmith flock --help' for more information.\n"
	switch {
	case errors.As(err, &own):
		text, hint = own.Error(), ""
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		text = "invalid option -- '" + unknown.GetSpecifiedName() + "'"
	case errors.As(err, &unknown):
		text = strings.TrimSuffix("unrecognized option '--"+unknown.GetSpecifiedName()+"': "+ofFlock(unknown.GetSpecifiedName()), ": ")
	case errors.As(err, &lacks) && lacks.GetSpecifiedShortnames() != "":
		text = "option requires an argument -- '" + lacks.GetSpecifiedName() + "'"
	case errors.As(err, &lacks):
		text = "option '--" + lacks.GetSpecifiedName() + "' requires an argument"
	}
	fmt.Fprintf(os.Stderr, "locksmith: %s\n%s", show.Text(text), hint)
	return protocol.Usage.Exit()
}

// end tells why there was no lock or no command, and returns the exit status, one of sysexits.h. If the
// command has ended, its status counts, whatever became of the file.
func (o *flocking) end(command *child.Command, err error) int {
	var unable *child.Error
	var errno syscall.Errno
	errors.As(err, &errno)
	text, status := "", 0
	switch {
	case command != nil && command.Ended():
		return command.Status()
	case errors.As(err, &unable):
		if unable.Status == 127 {
			errno = syscall.ENOENT
		} else if errno == 0 || errno == syscall.EISDIR {
			errno = syscall.EACCES
		}
		text, status = "failed to execute "+o.argv[0]+": ", 69 // EX_UNAVAILABLE
	case errno == syscall.EWOULDBLOCK || o.wait != locksmith.Forever && isHeld(err):
		if text = "failed to get lock"; o.waited || errors.As(err, new(*locksmith.TimeoutError)) {
			text = "timeout while waiting to get lock"
		}
		if o.verbose {
			fmt.Fprintln(os.Stderr, "locksmith:", text)
		}
		return o.conflict
	case errno == 0:
		report(err)
		return exitStatus(err)
	case o.argv == nil || backend.IsErrno(errno, syscall.ENOLCK, syscall.EBADF, syscall.EINVAL, syscall.EIO, syscall.EOPNOTSUPP):
		text, status = o.file+": ", 65 // EX_DATAERR
	default:
		text, status = "cannot open lock file "+o.file+": ", 66 // EX_NOINPUT
	}
	switch errno {
	case syscall.ENOMEM, syscall.ENOLCK, syscall.EMFILE, syscall.ENFILE:
		status = 71 // EX_OSERR
	case syscall.EROFS, syscall.ENOSPC:
		status = protocol.CannotCreate.Exit()
	}
	why := errno.Error() // strerror(3) has the same with a capital letter
	fmt.Fprintf(os.Stderr, "locksmith: %s%s%s\n", show.Text(text), strings.ToUpper(why[:1]), why[1:])
	return status
}
