package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/cmd/locksmith/cli/where"
	"locksmith/cmd/locksmith/memory"
	"locksmith/protocol"
)

// A listing is one run of list.
type listing struct {
	request.Connect
	conditions    []where.Condition
	mode          string
	held, waiting bool
	asJSON        bool
	format        string
	file          string       // -o
	others        atomic.Int64 // files that may be other tools' locks
	depth         int
}

func (a *app) list() *cobra.Command {
	l := listing{depth: flags.Unlimited, format: "text"}
	var conditions []string
	c := &cobra.Command{
		Use:   "list [flags] PLACE…",
		Short: "Show all locks in a directory, and who has them",
		Long: "Show the locks in PLACE and below it. PLACE is a path, for the locks of all kinds on file systems,\n" +
			"or the address of a directory, for those of one kind: local:/dir, flock:/dir, link:/dir,\n" +
			"mkdir:/dir, nfs:/dir, sftp://host/dir, ftp://host/dir (ftp://host/ is where the log in leads),\n" +
			"s3://bucket/dir, etcd://host/dir. For one lock alone there is status. With -o the list replaces a\n" +
			"file at once and whole, also if some place could not be looked at.\n\n" +
			"Locks are known by what locksmith writes into them. local: and link: also show files that hold a\n" +
			"pid and nothing else; mkdir:, ftp: and ftps: without ?style=dir also show empty directories, whose\n" +
			"holder is unknown. Symbolic links are not followed. A free lock is shown if something of it stays,\n" +
			"and if no --where or other filter was given.\n\n" +
			"--where compares KEY with VALUE: KEY=VALUE, KEY!=VALUE, and <, >, <=, >=. KEY is user, host, id,\n" +
			"mode, state (held or waiting), verdict (alive, stopped, dead, left over or unknown), pid, token,\n" +
			"age, heartbeat, lease, or else a key of --meta (always as meta.KEY). Ages and the like are\n" +
			"durations (90s, 7d), pid and token are numbers. Metadata is compared as numbers or durations if\n" +
			"both sides are, else as text. A holder without a value matches != only. With several --where all\n" +
			"must match.\n\n" +
			"On a terminal there is a line for each lock, elsewhere one for each holder and waiter, with all\n" +
			"that is known. What could not be looked at is told on standard error, and decides the exit status.",
		Example: "  locksmith list /var/lock\n" +
			"  locksmith list --format openmetrics -o /var/lib/prometheus/node-exporter/locks.prom /var/lock\n" +
			"  locksmith list --held --where job=nightly --where 'age>1h' nfs:/shared/locks\n" +
			"  locksmith list --json ftp://loader@ftp.example.org/locks",
		Args: atLeastOne("directory"),
	}
	l.Connect.Add(c, a.self)
	c.ValidArgsFunction = l.completePlace
	f := c.Flags()
	f.StringArrayVar(&conditions, "where", nil, "only holders and waiters that match, as in job=nightly or 'age>1h'")
	f.StringVar(&l.mode, "mode", "", "only those who have or want it `shared|exclusive`")
	f.BoolVar(&l.held, "held", false, "only holders")
	f.BoolVar(&l.waiting, "waiting", false, "only waiters")
	f.BoolVar(&l.asJSON, "json", false, "print one JSON document")
	f.StringVar(&l.format, "format", "text", "text, json, or openmetrics: what alerts need to know of each, for a textfile collector")
	f.StringVarP(&l.file, "output", "o", "", "write to this `file` instead, whole and at once")
	f.Var(flags.Count(&l.depth), "depth", "how many directories deep to look, 1 being in PLACE alone; else all, but 1 on FTP")
	c.RunE = interruptible(func(ctx context.Context, args []string) error {
		if err := l.prepare(conditions); err != nil {
			return err
		}
		return a.listAll(ctx, &l, args)
	})
	return c
}

// prepare settles which holders and waiters are shown.
func (l *listing) prepare(conditions []string) error {
	for _, text := range conditions {
		c, err := where.Parse(text)
		if err != nil {
			return flags.Usage(err)
		}
		l.conditions = append(l.conditions, c)
	}
	switch l.mode {
	case "":
	case "shared", "exclusive":
		l.conditions = append(l.conditions, where.Condition{Key: "mode", Sign: "=", Value: l.mode})
	default:
		return flags.Usagef("--mode is %q: it may be shared or exclusive", protocol.CleanText(l.mode, 100))
	}
	if l.asJSON {
		l.format = "json"
	}
	if !slices.Contains(show.Formats(), l.format) {
		return flags.Usagef("--format is %q: it may be text, json or openmetrics", protocol.CleanText(l.format, 100))
	}
	if l.depth == 0 {
		return flags.Usagef("--depth is 0: 1 is what is directly in the place")
	}
	return nil
}

// completePlace is Connect.CompleteLock for a directory, which may also be given as a path.
func (l *listing) completePlace(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if isPath(begun) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return l.CompleteLock(c, args, begun)
}

// listAll tells of all places, on standard output or in a file.
func (a *app) listAll(ctx context.Context, l *listing, args []string) error {
	if l.file == "" {
		width, _, _ := term.Size(os.Stdout)
		return a.listPlaces(ctx, l, args, &a.out, width)
	}
	return replace(l.file, func(to io.Writer) error {
		return cmp.Or(a.listPlaces(ctx, l, args, to, 0), context.Cause(ctx)) // after a signal it is not whole
	})
}

// replace writes a file beside the one of this name, and gives it the name when it is whole. What is no
// file, such as a device, stays. So does the file if write fails, whose error is returned.
func replace(name string, write func(io.Writer) error) error {
	if st, err := os.Lstat(name); err == nil && !st.Mode().IsRegular() {
		return flags.Usagef("-o %s: it is no file", show.Text(name))
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return backend.FileError(name, "write", err)
	}
	defer os.Remove(f.Name()) // unless it has got the name
	text := bufio.NewWriter(f)
	failed := write(text)
	err = errors.Join(text.Flush(), f.Chmod(0o644), f.Close())
	if failed == nil && err == nil {
		err = os.Rename(f.Name(), name)
	}
	if failed == nil && err != nil {
		failed = backend.FileError(name, "write", err)
	}
	return failed
}

// listPlaces goes from place to place, until a signal.
func (a *app) listPlaces(ctx context.Context, l *listing, args []string, to io.Writer, width int) error {
	out := show.NewList(to, l.format, width)
	for _, place := range args {
		if ctx.Err() != nil {
			break
		}
		l.others.Store(0)
		began := clock.Boot{}.Now()
		err := l.place(ctx, place, func(f backend.Listed) {
			if f.Err != nil {
				a.note(f.Err)
			} else if l.format == "openmetrics" { // its looks come regularly
				remember(f.Lock, &f.Report, began)
			}
			if s, ok := l.found(f); ok {
				out.Add(s, f.Err)
			}
		})
		if err != nil {
			a.note(err)
			out.Add(show.Lock{}, err)
		}
		if n := l.others.Load(); n > 0 && l.format == "text" && l.all() {
			dir, _ := absolute(place)
			if !isPath(place) { // an address, of flock:
				_, dir, _ = strings.Cut(place, ":")
				dir, _, _ = strings.Cut(dir, "?")
			}
			see := "locksmith list " + quoted("local:"+dir)
			if strings.HasPrefix(place, "local:") { // these are left out there, too
				if path, err := url.PathUnescape(dir); err == nil {
					dir = path
				}
				see = "ls -l " + quoted(dir)
			}
			fmt.Fprintf(to, "%s: files left out that may be other tools' locks: %d; see them with: %s\n", show.Text(place), n, show.Text(see))
		}
	}
	return out.End()
}

// found returns what is shown of a lock; not ok if nothing is.
func (l *listing) found(f backend.Listed) (s show.Lock, ok bool) {
	all := l.all()
	wanted := func(p show.Participant) bool { return l.wants(p, f.Report.Token) }
	if all {
		wanted = nil
	}
	s = show.NewLock(f.Lock, wanted)
	if f.Err != nil {
		s.Error = f.Err.Error()
		return s, true
	}
	s.Take(f.Report)
	return s, all || len(s.Holders)+len(s.Waiters) > 0
}

// all reports whether no conditions are asked for.
func (l *listing) all() bool { return len(l.conditions) == 0 && !l.held && !l.waiting }

// wants reports whether a holder or waiter is shown. The token is the lock's.
func (l *listing) wants(p show.Participant, token uint64) bool {
	if (l.held || l.waiting) && !(p.Waits && l.waiting || !p.Waits && l.held) {
		return false
	}
	for _, c := range l.conditions {
		if !c.Matches(p, token) {
			return false
		}
	}
	return true
}

// lookTime is how long one look at a file system may take, such as the listing of one directory.
const lookTime = time.Minute

// place tells of what is in one place.
func (l *listing) place(ctx context.Context, place string, tell func(backend.Listed)) error {
	lists, canonical, err := l.lister(place)
	if err != nil {
		return err
	}
	err = l.list(ctx, canonical, lists, tell)
	if left, ok := errors.AsType[*backend.LeftOutError](err); ok {
		return backend.Name(canonical).LeftOut(left)
	}
	return l.NotAPlace(place, canonical, err)
}

// list tells of what is in one place. It leaves behind a look that hangs.
func (l *listing) list(ctx context.Context, place string, lists lister, tell func(backend.Listed)) error {
	return follow(ctx, lookTime, noAnswer(place, lookOp, lookTime), func(ctx context.Context, step func(), tell func(backend.Listed)) error {
		return lists(ctx, backend.Listing{Depth: max(l.depth, 0), Step: step, Tell: tell, Most: backend.MaxShown(), Met: met(), Other: func() { l.others.Add(1) }})
	}, tell)
}

// met returns what reports whether tries of this user met a foreign file where a lock would be. After an
// error it asks no more: each file might wait for a home that hangs.
func met() func(lock string) bool {
	failed := false
	return func(lock string) bool {
		if failed {
			return false
		}
		m := memory.Of(lock, func(err error) { failed = failed || errors.Is(err, memory.ErrHung) })
		return m != nil && backend.MetForeign(m)
	}
}

// A lister tells of the locks in one place.
type lister func(context.Context, backend.Listing) error

// lister returns the lister of a place, and the place's address, or the path that it is.
func (l *listing) lister(place string) (lister, string, error) {
	if isPath(place) {
		dir, err := absolute(place)
		if err != nil {
			return nil, "", backend.FileError(place, "find the directory where we are", err)
		}
		return func(ctx context.Context, l backend.Listing) error { return backends.Tree(ctx, dir, l) }, place, nil
	}
	b, canonical, err := l.OpenPlace(place)
	if st, e := os.Stat(place); err != nil && !strings.Contains(place, ":") && e == nil && st.IsDir() {
		return nil, "", fmt.Errorf("%w; the directory is written ./%s", err, place)
	}
	if err != nil {
		return nil, "", err
	}
	list := l.List
	return func(ctx context.Context, l backend.Listing) error { return list(ctx, b, canonical, l) }, canonical, nil
}

// isPath tells a path from an address, and from the name of a profile, which has no slash.
func isPath(place string) bool {
	before, _, _ := strings.Cut(place, ":")
	return place == "." || place == ".." || strings.Contains(before, "/")
}

// absolute is a path as addresses have it. Only the file system knows where ".." leads after a
// symbolic link.
func absolute(place string) (string, error) {
	if path.IsAbs(place) {
		return place, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	place = filepath.ToSlash(here) + "/" + place
	if slices.Contains(strings.Split(place, "/"), "..") {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			place = filepath.ToSlash(real)
		}
	}
	return "/" + strings.TrimPrefix(place, "/"), nil // on Windows the place begins with C:
}
