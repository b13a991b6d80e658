package ftp

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/mkdirlock/dirs"
	"locksmith/test/ftpserver"
)

// eachKind runs a test at every server, in the clear and with TLS.
func eachKind(t *testing.T, test func(*testing.T, *ftpserver.Server)) {
	for _, kind := range ftpserver.Kinds() {
		for name, o := range map[string]ftpserver.Options{"plain": {}, "TLS": {TLS: true}, "TLS12": {TLS: true, TLS12: true}, "implicit": {TLS: true, Implicit: true}} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				switch {
				case ftpserver.Supports(kind, o) != nil:
					t.Skip("it has no such option")
				case kind == "proftpd" && o.TLS12:
					t.Skip("without tickets Go does not resume sessions of TLS 1.2")
				}
				test(t, ftpserver.Start(t, kind, o))
			})
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, s *ftpserver.Server) {
		d, ctx := connectTo(t, s, s.Addr), soon(t)
		happens := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		refuses := func(err error) {
			t.Helper()
			if !errors.Is(err, dirs.ErrRefused) {
				t.Errorf("a call that the server must refuse returns %v", err)
			}
		}
		happens(d.Mkdir(ctx, "L"))
		refuses(d.Mkdir(ctx, "L"))
		refuses(d.Mkdir(ctx, "none/L"))
		happens(d.Mkdir(ctx, "L.r.1"))
		happens(d.Mkdir(ctx, "L.r.1/x.1"))
		happens(d.Rename(ctx, "L.r.1", "L"))
		happens(d.Mkdir(ctx, "L.r.2"))
		happens(d.Mkdir(ctx, "L.r.2/x.2"))
		refuses(d.Rename(ctx, "L.r.2", "L"))
		refuses(d.Rename(ctx, "none", "L.r.3"))
		refuses(d.Rmdir(ctx, "L"))
		refuses(d.Rmdir(ctx, "none"))
		for range 3 { // as often as it takes to use up a ticket
			holds(t, d, "L", "x.1")
			holds(t, d, ".", "L", "L.r.2")
		}
		happens(d.Rmdir(ctx, "L/x.1"))
		if got, err := d.List(ctx, "L"); len(got) > 0 || err != nil && !errors.Is(err, dirs.ErrRefused) {
			t.Errorf("an empty directory: %q, %v", got, err)
		}
		if got, err := d.List(ctx, "none"); len(got) > 0 || err != nil && !errors.Is(err, dirs.ErrRefused) {
			t.Errorf("a missing directory: %q, %v", got, err)
		}
		happens(d.Rmdir(ctx, "L"))
		if _, err := os.Stat(filepath.Join(s.Dir, "L.r.2/x.2")); err != nil {
			t.Error(err)
		}
	})
}

// holds checks that a listing is as wanted.
func holds(t *testing.T, d *Dir, dir string, want ...string) {
	t.Helper()
	got, err := d.List(soon(t), dir)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("list %s: %q, %v; want %q", dir, got, err, want)
	}
}

func TestKindsSpeakOfThemselves(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, s *ftpserver.Server) {
		d, ctx := connectTo(t, s, s.Addr), soon(t)
		for _, name := range []string{"old", "new"} {
			if err := d.Mkdir(ctx, name); err != nil {
				t.Fatal(err)
			}
		}
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(s.Dir, "old"), past, past); err != nil {
			t.Fatal(err)
		}
		entries, err := d.Entries(ctx, ".")
		at := map[string]dirs.Entry{}
		for _, e := range entries {
			at[e.Name] = e
		}
		apart := at["new"].Modified.Sub(at["old"].Modified)
		if err != nil || len(entries) != 2 || apart < 58*time.Minute || apart > 62*time.Minute {
			t.Errorf("the entries are %+v with the error %v; want two, with times an hour apart", entries, err)
		}
		session, err := d.Session(ctx)
		if err != nil || session.Greeting == "" || session.Welcome == "" || session.Status == "" || (session.TLS != "") != (s.CA != "") {
			t.Errorf("the session is told as %+v with the error %v; want a greeting, a welcome, a status, and TLS where the server has a certificate: %v", session, err, s.CA != "")
		}
		t.Logf("%+v", session)
		if err := d.Mkdir(ctx, "later"); err != nil {
			t.Error("out of step:", err)
		}
	})
}

// TestOneWinner: of many connections exactly one makes a directory.
func TestOneWinner(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, s *ftpserver.Server) {
		if s.CA != "" {
			t.Skip("the same in the clear")
		}
		var all sync.WaitGroup
		var winners atomic.Int32
		for range 5 {
			d := connectTo(t, s, s.Addr)
			all.Go(func() {
				switch err := d.Mkdir(soon(t), "L"); {
				case err == nil:
					winners.Add(1)
				case !errors.Is(err, dirs.ErrRefused):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if winners.Load() != 1 {
			t.Errorf("%d of those who made the same directory at the same time were told that they did, want one", winners.Load())
		}
	})
}

func TestRestart(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, s *ftpserver.Server) {
		d, ctx := connectTo(t, s, s.Addr), soon(t)
		if err := d.Mkdir(ctx, "L"); err != nil {
			t.Fatal(err)
		}
		s.Restart()
		if err := d.Mkdir(ctx, "L/x.1"); err != nil {
			t.Error("after a restart:", err)
		}
		s.Restart()
		holds(t, d, "L", "x.1")
	})
}

// TestEmptyFirst: every server's empty listing is understood, when it is the first of its
// connection. With TLS, every second one of pyftpdlib has no proper end at first.
func TestEmptyFirst(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, s *ftpserver.Server) {
		times := 2
		if s.Kind == "pyftpdlib" && s.CA != "" {
			times = 15
		}
		for i := range times {
			d := connectTo(t, s, s.Addr)
			if i == 0 {
				if err := d.Mkdir(soon(t), "empty"); err != nil {
					t.Fatal(err)
				}
			}
			if names, err := d.List(soon(t), "empty"); len(names) > 0 || err != nil && !errors.Is(err, dirs.ErrRefused) {
				t.Fatalf("listing %d of an empty directory gives %q and the error %v", i, names, err)
			}
			d.Close()
		}
	})
}
