package ftp

import (
	"io"
	"strings"
	"testing"
	"time"
)

// FuzzNames: no listing makes names that lead elsewhere.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"a\r\nb", "L/a", "/", "..", "./..", "//", "\x00", "a/\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, listing string) {
		for _, name := range names(strings.Split(listing, "\n")) {
			if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
				t.Errorf("%q gives %q", listing, name)
			}
		}
	})
}

// FuzzReplies: whatever a server sends, on either connection, nothing panics or
// hangs, and what is not a success is not taken for one.
func FuzzReplies(f *testing.F) {
	for _, s := range []string{"250 ok\r\n", "250-", "\x00\xff", "227 )(\r\n", "229 (|||0|)\r\n", "421\r\n", "150 x\r\n226 y\r\n", "257-a\n257 b\n257 c\n", "-25 x\r\n", "226"} {
		for stage := range len(stages) {
			f.Add(byte(stage), s)
		}
	}
	f.Fuzz(func(t *testing.T, stage byte, reply string) {
		verb := stages[int(stage)%len(stages)]
		fake := startFake(t).when(verb, func(c *talk) { _, _ = io.WriteString(c.Conn, reply); c.cut() })
		switch verb {
		case "PASV":
			fake.when("EPSV", says("500 no"))
		case "data":
			fake.when("NLST", func(c *talk) { c.say("150 go"); c.send(reply); c.say("226 done") })
			fake.when("LIST", func(c *talk) { c.say("150 go"); c.send(reply); c.say("226 done") })
		}
		d := fake.hasty()
		defer d.Close()
		start := time.Now()
		made := d.Mkdir(soon(t), "L")
		for _, call := range []func(){
			func() { _ = d.Rename(soon(t), "L", "L.r.1") },
			func() { _, _ = d.List(soon(t), "L") },
			func() { _, _ = d.Entries(soon(t), "L") },
			func() { _, _ = d.Session(soon(t)) },
		} {
			d.server.door.admitted() // there is no time for its pauses
			call()
		}
		if made == nil && verb == "MKD" && !strings.HasPrefix(reply, "2") {
			t.Errorf("%q was a success", reply)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s %q took %v", verb, reply, took)
		}
	})
}

var stages = []string{greeting, "USER", "PASS", "FEAT", "TYPE", "MKD", "RNFR", "RNTO", "EPSV", "PASV", "NLST", "LIST", "STAT", "data"}
