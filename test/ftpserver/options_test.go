package ftpserver

import (
	"path"
	"syscall"
	"testing"
	"time"

	"github.com/jlaffaye/ftp"

	"locksmith/test/lab"
)

// TestOptions: each option does what it says, at every server that has it.
func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		o  Options
		do func(t *testing.T, c *ftp.ServerConn, at func(string) string) error
		ok bool
	}{
		"NoRmdir":     {Options{NoRmdir: true}, removes, false},
		"DenyRename":  {Options{DenyRename: true}, renames, false},
		"NoOverwrite": {Options{NoOverwrite: true}, renames, false},
		"MkdirAll":    {Options{MkdirAll: true}, makesTwice, true},
		"full disk":   {Options{Hook: failing("mkdir", syscall.ENOSPC)}, makes, false},
		"no hook":     {Options{Hook: failing("rename", syscall.ENOSPC)}, makes, true},
	} {
		for _, kind := range Kinds() {
			if Supports(kind, c.o) != nil {
				continue
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				s := Start(t, kind, c.o)
				err := c.do(t, login(t, s, s.Addr), func(name string) string { return path.Join(s.Home, name) })
				t.Log(err)
				if (err == nil) != c.ok {
					t.Errorf("the account's command succeeded: %v", err == nil)
				}
			})
		}
	}
}

func makes(_ *testing.T, c *ftp.ServerConn, at func(string) string) error { return c.MakeDir(at("a")) }

func makesTwice(t *testing.T, c *ftp.ServerConn, at func(string) string) error {
	must(t, c.MakeDir(at("a")))
	return c.MakeDir(at("a"))
}

// removes makes a directory, and removes it.
func removes(t *testing.T, c *ftp.ServerConn, at func(string) string) error {
	must(t, c.MakeDir(at("a")))
	return c.RemoveDir(at("a"))
}

// renames makes two directories, and renames one onto the other.
func renames(t *testing.T, c *ftp.ServerConn, at func(string) string) error {
	must(t, c.MakeDir(at("a")))
	must(t, c.MakeDir(at("b")))
	return c.Rename(at("a"), at("b"))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func failing(op string, err error) func(string, string) error {
	return func(called, _ string) error {
		if called == op {
			return err
		}
		return nil
	}
}

// TestHookDelay: a hook that sleeps delays the call.
func TestHookDelay(t *testing.T) {
	s := Start(t, "embedded", Options{Hook: func(string, string) error {
		time.Sleep(50 * time.Millisecond)
		return nil
	}})
	c := login(t, s, s.Addr)
	start := time.Now()
	if err := c.MakeDir("/a"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 50*time.Millisecond {
		t.Errorf("the call took %v, want at least the hook's 50 ms", took)
	}
}

// TestNoTransfer: the server ends a session that only makes directories.
func TestNoTransfer(t *testing.T) {
	t.Parallel()
	s := Start(t, "proftpd", Options{NoTransfer: 5 * time.Second})
	c := login(t, s, s.Addr)
	lab.Eventually(t, "it ends", func() bool { return c.NoOp() != nil })
}
