//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/finder"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/backends/watch"
	"locksmith/cmd/locksmith/cli"
	"locksmith/protocol"
)

// table is a kind of lock of one's own: a row in a table of a database file. A row of JSON and
// flock(2) stand for the database here; another needs another transact, and the rest as it is.
type table struct{ path string }

// A row is who has the lock: an owner.Record, empty while it is free, its heartbeats, and when the last
// came by the database's clock, which is SELECT now(): this machine's, for a file.
type row struct {
	Holder string
	Beats  int
	Beat   time.Time
	Slips  shelf.Texts `json:",omitempty"`
}

func now() time.Time { return time.Now() }

func (t table) name() string { return "table:" + t.path }

// transact is BEGIN IMMEDIATE, SELECT, UPDATE to what f makes of the row, and COMMIT.
func (t table) transact(f func(*row) error) error {
	file, err := os.OpenFile(t.path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	var r row
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return err
	} else if err := json.NewDecoder(file).Decode(&r); err != nil && err != io.EOF {
		return err
	} else if err := f(&r); err != nil {
		return err
	}
	text, _ := json.Marshal(r)
	return os.WriteFile(t.path, text, 0o666)
}

// seen is what a row tells of its holder: package watch judges by it who is dead.
func (r row) seen(w *watch.Watcher) (watch.Seen, error) {
	record, err := owner.ParseRecord(r.Holder)
	if err != nil {
		return watch.Seen{Note: err.Error()}, err // it is held all the same
	}
	s := watch.Seen{ID: record.ID, Sign: fmt.Sprint(record.ID, r.Beats), Lasting: true, Record: &record,
		Verdict: record.Verdict(owner.Here()), Lease: record.Lease, Since: record.Acquired, Beat: r.Beat}
	s.Rules = []watch.Rule{w.Rule(s.Verdict, s.Lease)}
	return s, nil
}

func (t table) Attempt(r backend.Request) (backend.Attempt, error) {
	r, err := r.Checked(backend.Name(t.name()), "a row", "exclusive")
	return &wish{t, r, watch.New(r)}, err
}

type wish struct {
	table
	request backend.Request
	watcher *watch.Watcher
}

func (w *wish) Try(context.Context) (backend.Hold, error) {
	me := w.request.Owner
	me.ID, me.Acquired = owner.NewID(), time.Now()
	text, err := me.Format()
	if err != nil {
		return nil, err
	}
	err = w.transact(func(r *row) error {
		if r.Holder != "" {
			o, err := w.watcher.Look("holder", func(watch.Seen) (watch.Seen, error) { return r.seen(w.watcher) })
			if err != nil || o.Due > 0 {
				return &backend.HeldError{Lock: w.name(), Holder: o.HolderThere(time.Now(), now())}
			}
			w.request.TellBroken(w.name(), o.Holder(time.Now()))
		}
		*r = row{Holder: text, Beat: now(), Slips: r.Slips}
		return nil
	})
	return &held{w.table, me.ID, w.watcher}, err
}

func (w *wish) Wait(ctx context.Context) error { return clock.Pause(ctx, 20*time.Millisecond) }

func (w *wish) Withdraw(context.Context) error { return nil } // nobody sees who waits

type held struct {
	table
	id      string
	watcher *watch.Watcher
}

func (h *held) ID() string                     { return h.id }
func (h *held) Token() uint64                  { return 0 }
func (h *held) Tend(ctx context.Context) error { return shelf.Tidy(ctx, h, h.watcher) }

func (h *held) Heartbeat(context.Context) error {
	return h.change(h.id, func(r *row) { r.Beats++; r.Beat = now() })
}
func (h *held) Release(context.Context) error { return h.change(h.id, (*row).free) }

func (t table) Strike(_ context.Context, h backend.Holder) error { return t.change(h.ID, (*row).free) }

func (r *row) free() { *r = row{Slips: r.Slips} }

// change changes the row if it is still that of the acquisition with this id.
func (t table) change(id string, change func(*row)) error {
	return t.transact(func(r *row) error {
		if record, err := owner.ParseRecord(r.Holder); err != nil || record.ID != id {
			return backend.ErrGone
		}
		change(r)
		return nil
	})
}

func (t table) Read(context.Context) (report backend.Report, err error) {
	err = t.transact(func(r *row) error {
		if s, _ := r.seen(watch.New(backend.Request{})); r.Holder != "" {
			report.Holders = []backend.Holder{s.HolderThere(time.Now(), now())}
		}
		return nil
	})
	return report, err
}

func (t table) OnShelf(_ context.Context, _ backend.Hold, use func(shelf.Shelf) error) error {
	return t.transact(func(r *row) error { return use(&r.Slips) })
}

func (t table) Search(context.Context) (finder.Search, error) {
	return finder.Files(t.path, backend.Name(t.name()), finder.Begins(`{"Holder":`), func(f finder.Found) backend.Backend { return table{t.path + f.Path} }), nil
}

func (t table) NewestToken(context.Context) (uint64, error) { return 0, backend.ErrNoTokens }
func (t table) Examine(_ context.Context, _ backend.Examination, tell backend.Tell) error {
	tell.Fit("transactions", "the database has them")
	return nil
}

func ExampleWith() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	open := func(a backend.Address, _ backend.Access) (backend.Backend, error) {
		return table{a.Path}, a.CheckOptions(nil)
	}
	main := cli.With(backends.Kind{Scheme: backend.Scheme{Name: "table", About: "a row in a database file"}, Open: open, Key: backend.Address.String}) // also for client.Init
	fmt.Println("nobody has it:", main([]string{"break", "table:" + dir + "/jobs.db", "--id", "0123"}) == protocol.Gone.Exit())
	// Output: nobody has it: true
}
