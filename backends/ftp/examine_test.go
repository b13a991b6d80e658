package ftp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/test/ftpserver"
)

// examined examines the place of a lock at a server. The examination must leave nothing behind.
func examined(t *testing.T, s *ftpserver.Server, idle time.Duration) []backend.Check {
	t.Helper()
	at := connectTo(t, s, s.Addr).server
	at.backoff.Clock = swift{}
	b, err := Open(at.address, at.access)
	if err != nil {
		t.Fatal(err)
	}
	lockOf(b).NewDir = func() dirs.Dir {
		d := at.newDir()
		d.clock = swift{}
		return d
	}
	for ctx := soon(t); ; {
		var all []backend.Check
		var lines strings.Builder
		err = b.Examine(ctx, backend.Examination{Idle: idle}, func(c backend.Check) {
			all = append(all, c)
			fmt.Fprintf(&lines, "%-7s %-24s %s\n        %s\n", c.Finding, c.Name, c.Text, c.Advice)
		})
		if errors.Is(err, dirs.ErrBusy) && len(all) == 0 {
			continue // the server may still count the connection that waited for its start
		}
		if idle > time.Second && err != nil && backend.Passes(err) && ctx.Err() == nil {
			t.Logf("the server hung up in the middle, as this machine was too slow: again: %v", err)
			mustClear(t, s)
			continue
		}
		t.Logf("%s %v\n%s", s.Kind, err, lines.String())
		if err != nil {
			t.Error(err)
		}
		return all
	}
}

// mustClear removes what an examination that failed has left.
func mustClear(t *testing.T, s *ftpserver.Server) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(s.Dir, "*"))
	for _, name := range left {
		err = errors.Join(err, os.RemoveAll(name))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func mustBeEmpty(t *testing.T, s *ftpserver.Server) {
	t.Helper()
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
		t.Errorf("doctor leaves %v at the server, with the error %v; want nothing", left, err)
	}
}

// mustFind looks for a check with a finding, and words in its text or advice.
func mustFind(t *testing.T, all []backend.Check, name string, f backend.Finding, says string) {
	t.Helper()
	i := slices.IndexFunc(all, func(c backend.Check) bool { return c.Name == name })
	switch {
	case i < 0:
		t.Errorf("doctor has no check %q; it has %+v", name, all)
	case all[i].Finding != f || !strings.Contains(all[i].Text+"\n"+all[i].Advice, says):
		t.Errorf("%+v, want %s and %q", all[i], f, says)
	}
}

// TestExamineKinds: all servers are fit, and their weaknesses are known.
func TestExamineKinds(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, s *ftpserver.Server) {
		all := examined(t, s, time.Second)
		mustBeEmpty(t, s)
		for _, c := range all {
			expected := c.Name == "encryption" || c.Name == "times"
			if c.Finding == backend.Unfit || c.Finding == backend.Weak && !expected || c.Finding != backend.Fit && c.Advice == "" {
				t.Errorf("a good server fails a check, or the check has no advice: %+v", c)
			}
		}
		for _, name := range []string{"exclusive create", "two make the same", "two remove the same", "two rename to the same", "rename over a file", "idle limit", "connections"} {
			mustFind(t, all, name, backend.Fit, "")
		}
		encrypted := backend.Weak
		if s.CA != "" {
			encrypted = backend.Fit
		}
		mustFind(t, all, "encryption", encrypted, "")
	})
}

// TestExamineOptions: what is wrong with a server is told by the right check.
func TestExamineOptions(t *testing.T) {
	for name, c := range map[string]struct {
		o     ftpserver.Options
		check string
		f     backend.Finding
		says  string
		left  bool // what was made cannot be removed
	}{
		"NoRmdir":     {ftpserver.Options{NoRmdir: true}, "remove directories", backend.Unfit, "RMD", true},
		"DenyRename":  {ftpserver.Options{DenyRename: true}, "rename to a new name", backend.Unfit, "RNTO", false},
		"NoOverwrite": {ftpserver.Options{NoOverwrite: true}, "rename onto an empty one", backend.Weak, "AllowOverwrite", false},
		"NoReplace":   {ftpserver.Options{NoOverwrite: true}, "rename over a file", backend.Weak, "AllowOverwrite", false},
		"MkdirAll":    {ftpserver.Options{MkdirAll: true}, "exclusive create", backend.Unfit, "two would hold", false},
		"RemoveAll":   {ftpserver.Options{MkdirAll: true}, "keep what is not empty", backend.Unfit, "taken from its holder", false},
		"Idle":        {ftpserver.Options{Idle: idle}, "idle limit", backend.Weak, "raise it", false},
		"NoTransfer":  {ftpserver.Options{NoTransfer: idle}, "transfer limit", backend.Weak, "TimeoutNoTransfer", false},
		"MaxConns 5":  {ftpserver.Options{MaxConns: 5}, "connections", backend.Weak, "no more than", false},
		"MaxConns 2":  {ftpserver.Options{MaxConns: 2}, "connections", backend.Weak, "no more than", false},
		"MaxConns 1":  {ftpserver.Options{MaxConns: 1}, "two connections", backend.Unknown, "from one address", false},
	} {
		for _, kind := range ftpserver.Kinds() {
			if ftpserver.Supports(kind, c.o) != nil {
				continue
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				s := ftpserver.Start(t, kind, c.o)
				silence := time.Second
				if c.o.Idle+c.o.NoTransfer > 0 {
					silence = 4 * idle // it ends when the server closes
				}
				all := examined(t, s, silence)
				mustFind(t, all, c.check, c.f, c.says)
				if c.left {
					mustFind(t, all, "clean up", backend.Weak, "doctor.")
					return
				}
				mustBeEmpty(t, s)
			})
		}
	}
}

// TestExamineUnreachable: a place that cannot be reached is not unfit.
func TestExamineUnreachable(t *testing.T) {
	t.Parallel()
	s := ftpserver.Start(t, "embedded", ftpserver.Options{})
	s.Stop()
	d := connectTo(t, s, s.Addr)
	b, err := Open(d.server.address, d.server.access)
	if err != nil {
		t.Fatal(err)
	}
	err = b.Examine(soon(t), backend.Examination{}, func(c backend.Check) { t.Errorf("a server that is down has the check %+v", c) })
	var known *backend.Error
	if !errors.As(err, &known) {
		t.Error(err)
	}
}

// TestLimitTexts: what servers say about their limits is found, and nothing else.
func TestLimitTexts(t *testing.T) {
	for text, want := range map[string]string{
		"Connected\nSession timeout in seconds is 300\nend":                                          "Session timeout in seconds is 300",
		"220-Local time is now 11:41.\n220 You will be disconnected after 15 minutes of inactivity.": "220 You will be disconnected after 15 minutes of inactivity.",
		"Session timeout is 900 seconds":                                                             "Session timeout is 900 seconds",
		"Connected to 127.0.0.1:5 for 0s":                                                            "",
		"no timeout here\n220 ProFTPD Server 1":                                                      "",
	} {
		if got := limitText().FindString(text); got != want {
			t.Errorf("in %q the limit is found as %q, want %q", text, got, want)
		}
	}
}

// TestExamineCancelled: nothing is told of checks that were cancelled, and nothing stays behind.
func TestExamineCancelled(t *testing.T) {
	t.Parallel()
	s := ftpserver.Start(t, "embedded", ftpserver.Options{})
	d := connectTo(t, s, s.Addr)
	b, err := Open(d.server.address, d.server.access)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(soon(t))
	err = b.Examine(ctx, backend.Examination{Idle: time.Hour}, func(c backend.Check) {
		switch c.Name {
		case "connections": // only the wait for the idle connection is left
			cancel()
		case "idle limit", "transfer limit":
			t.Errorf("an examination that was cancelled has the check %+v", c)
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	mustBeEmpty(t, s)
}
