package ftp

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"locksmith/test/ftpserver"
)

// TestLostAnswers: an answer is lost on the way. What did the server do, and what do we say about
// it?
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	const unsure, not = "unclear", "done" // "done" by the repetition
	tests := []struct {
		name  string
		fault ftpserver.Fault
		want  string
		made  int // how many of the two directories exist then; -1: nobody knows
	}{
		{"cut before", ftpserver.Fault{Verb: "MKD", Command: 1, At: ftpserver.Before, Do: ftpserver.Cut}, unsure, 0},
		{"cut after", ftpserver.Fault{Verb: "MKD", Command: 1, At: ftpserver.Answered, Do: ftpserver.Cut}, unsure, 1},
		{"reset after", ftpserver.Fault{Verb: "MKD", Command: 1, At: ftpserver.Answered, Do: ftpserver.Reset}, unsure, 1},
		{"half after", ftpserver.Fault{Verb: "MKD", Command: 1, At: ftpserver.Answered, Do: ftpserver.Truncate}, unsure, 1},
		{"silence after", ftpserver.Fault{Verb: "MKD", Command: 1, At: ftpserver.Answered, Do: ftpserver.Stall}, unsure, 1},
		{"while it is sent", ftpserver.Fault{Verb: "MKD", Command: 1, At: ftpserver.Sent, Do: ftpserver.Cut}, unsure, -1},
		{"421 before", ftpserver.Fault{Verb: "MKD", Command: 1, At: ftpserver.Before, Do: ftpserver.Reply, Text: "421 idle"}, not, 1},
		{"cut at RNFR", ftpserver.Fault{Verb: "RNFR", Command: 1, At: ftpserver.Answered, Do: ftpserver.Cut}, not, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := ftpserver.Start(t, "embedded", ftpserver.Options{})
			p := ftpserver.StartProxy(t, s.Addr)
			d := connectTo(t, s, p.Addr)
			if _, err := d.List(soon(t), "."); err != nil {
				t.Fatal(err)
			}
			if tt.fault.Do == ftpserver.Stall {
				d.conn.deadlines.timeout = 500 * time.Millisecond // on this connection only
			}
			p.Fail(p.Conns()-1, tt.fault)
			call := func() error { return d.Mkdir(soon(t), "L") }
			if tt.fault.Verb == "RNFR" {
				if err := d.Mkdir(soon(t), "L.r.1"); err != nil {
					t.Fatal(err)
				}
				call = func() error { return d.Rename(soon(t), "L.r.1", "L") }
			}
			err := call()
			p.Heal()
			if come(err) != tt.want {
				t.Errorf("the call is %s, want %s; its error is %v; look at judge (outcome.go)", come(err), tt.want, err)
			}
			names, _ := filepath.Glob(filepath.Join(s.Dir, "*")) // the pattern is good
			if tt.made >= 0 && len(names) != tt.made {
				t.Errorf("the server has the directories %q, want %d", names, tt.made)
			}
			if err := d.Mkdir(soon(t), "later"); err != nil {
				t.Error("afterwards:", err)
			}
		})
	}
}

// TestNothingTwice: a call that may have happened is never made again.
func TestNothingTwice(t *testing.T) {
	t.Parallel()
	s := ftpserver.Start(t, "embedded", ftpserver.Options{})
	p := ftpserver.StartProxy(t, s.Addr)
	d := connectTo(t, s, p.Addr)
	if err := d.Mkdir(soon(t), "L"); err != nil {
		t.Fatal(err)
	}
	p.Fail(p.Conns()-1, ftpserver.Fault{Verb: "RMD", Command: 1, At: ftpserver.Answered, Do: ftpserver.Cut})
	if err := d.Rmdir(soon(t), "L"); come(err) != "unclear" {
		t.Errorf("the answer to RMD is lost: the call is %s, want unclear; its error is %v; look at judge (outcome.go)", come(err), err)
	}
	if err := os.Mkdir(filepath.Join(s.Dir, "L"), 0o755); err != nil { // somebody else's
		t.Fatal(err)
	}
	if _, err := d.List(soon(t), "."); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "L")); err != nil {
		t.Error(err)
	}
}
