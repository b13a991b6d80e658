//go:build unix

package symlinks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/tokens"
	"locksmith/protocol"
)

// found is a lock directory that somebody else has made. It has only the calls of an inspection.
type found struct {
	Dir
	generations, reservations, members []string
	link, record                       string
}

func (d found) List(_ context.Context, name string) ([]string, error) {
	switch name {
	case Generations:
		return d.generations, nil
	case Reservations:
		return d.reservations, nil
	}
	return d.members, nil
}

func (d found) Readlink(_ context.Context, name string) (string, error) {
	if strings.HasPrefix(name, Generations+"/"+lockPrefix) {
		return d.link, nil
	}
	return d.record, nil
}

func (d found) Look(context.Context, string) (Sight, error) { return Sight{Sign: "1"}, nil }

// FuzzDirectory: whatever names and links are in a lock directory, an inspection never calls a
// held lock free. And it calls a holder dead only by the holder's own record.
func FuzzDirectory(f *testing.F) {
	k := "1-1700000000000-60000-" + someID
	record := strings.TrimSuffix(recordOf(f, someID), "\n")
	for _, s := range [][]string{
		{"", "", "", "", ""},
		{"lock.1", "x." + k, "", "../R/x." + k, record},
		{"lock.1\nlock.2", "s." + k + "\nt." + k, k, "../R/s." + k, "garbage"},
		{"lock.18446744073709551615", "", "", "", ""},
		{"lock.2\nlock.1\nlock.01", "x." + k, "\x1b[2J", "../R/../../etc", "/etc/passwd"},
		{"lock.3", "i." + k + "\nx." + k + "\ns." + k, k + "\n" + k, "../R/t." + k, "\x9b\u202e"},
	} {
		f.Add(s[0], s[1], s[2], s[3], s[4])
	}
	f.Fuzz(func(t *testing.T, generations, reservations, members, link, record string) {
		d := found{generations: strings.Split(generations, "\n"), reservations: strings.Split(reservations, "\n"),
			members: strings.Split(members, "\n"), link: link, record: record}
		l := &Lock{Dir: d, Address: "nfs:/lock", Env: owner.Env{NewID: owner.NewID, Today: time.Now, Judge: func(r owner.Record) owner.Verdict { return owner.Dead }}}
		r, err := l.Read(context.Background())
		newest, e, shaped := parsed(d)
		switch {
		case err != nil && shaped && newest < tokens.Max:
			t.Fatalf("inspection of a well-formed directory %+v fails: %v", d, err)
		case err != nil && !errors.As(err, new(*backend.Error)):
			t.Fatalf("inspection of %+v fails with another error than *backend.Error: %v", d, err)
		case err != nil:
			return
		case newest > 0 && !shaped, r.Token != newest:
			t.Fatalf("%+v has token %d, and no error", d, r.Token)
		case newest > 0 && len(r.Holders) == 0 && e.kind == exclusive && slices.Contains(d.reservations, strings.TrimPrefix(e.path(), Reservations+"/")):
			t.Fatalf("inspection calls a held lock free: %+v", d)
		}
		for _, h := range append(r.Holders, r.Waiters...) {
			if h.Verdict == owner.Dead && (h.Record == nil || !strings.Contains(record, h.Record.ID)) {
				t.Fatalf("in %+v the holder %+v counts as dead without its own record", d, h)
			}
			if strings.ContainsFunc(h.String(), protocol.IsControl) {
				t.Fatalf("in %+v the holder is shown with a control character: %q", d, h.String())
			}
		}
	})
}

// parsed returns the newest generation, and whether it leads to something that a locksmith could
// have made.
func parsed(d found) (newest uint64, e entry, shaped bool) {
	for _, name := range d.generations {
		if n, ok := parseLockName(name); ok {
			newest = max(newest, n)
		}
	}
	e, shaped = parseLink(d.link)
	return newest, e, shaped || newest == 0
}

// recordOf is a record with an id.
func recordOf(f *testing.F, id string) string {
	text, err := owner.Record{ID: id, Helper: process.Process{PID: 7}, User: "alice", Mode: "exclusive", Lease: time.Minute}.Format()
	if err != nil {
		f.Fatal(err)
	}
	return text
}
