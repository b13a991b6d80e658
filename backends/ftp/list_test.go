package ftp

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/protocol"
)

// TestListDialects: each server has its own idea of NLST.
func TestListDialects(t *testing.T) {
	t.Parallel()
	for listing, want := range map[string][]string{
		"a\r\nb\r\n":                            {"a", "b"},
		"a\nb\n":                                {"a", "b"},
		"L/a\r\nL/b\r\n":                        {"a", "b"},
		"/dir/L/a\r\n/dir/L/b\r\n":              {"a", "b"},
		"./a\r\n./b\r\n":                        {"a", "b"},
		".\r\n..\r\na\r\n":                      {"a"},
		"/dir/L/.\r\n/dir/L/..\r\n/dir/L/a\r\n": {"a"},
		"a/\r\nL/b/\r\n":                        {"a", "b"},
		"a\r\r\n\r\nb\r\n":                      {"a", "b"},
		"":                                      nil,
		".\r\n..\r\n":                           nil,
		"a b\r\n":                               {"a b"},
	} {
		f := startFake(t)
		f.listing = listing
		holds(t, f.dir(), "L", want...)
		if got := f.sent("NLST"); len(got) != 1 || got[0] != "1 NLST /dir/L" {
			t.Errorf("for one listing was sent %q, want one NLST of /dir/L", got)
		}
	}
}

func ending(reply string) func(*talk) {
	return func(c *talk) { c.say("150 here it comes"); c.send("a\r\n"); c.say(reply) }
}

func TestListOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, verb string
		answer     func(*talk)
		want       string
		sent       int
	}{
		{"550", "NLST", says("550 No such file"), "refused", 1},
		{"450", "NLST", says("450 No such file"), "refused", 1},
		{"other success", "NLST", ending("250 done"), "done", 1},
		{"broken off", "NLST", ending("426 broken off"), "unclear", 2},
		{"broken off locally", "NLST", ending("451 disk"), "unclear", 2},
		{"lost once", "NLST", first((*talk).cut), "done", 2},
		{"lost", "NLST", (*talk).cut, "unclear", 2},
		{"no end once", "NLST", first(func(c *talk) { c.say("150 go"); c.send("a\r\n"); c.cut() }), "done", 2},
		{"busy once", "NLST", first(says("421 idle")), "done", 2},
		{"busy", "NLST", says("421 idle"), "busy", 2},
		{"success without data", "NLST", says("226 nothing there"), "unclear", 2},
		{"garbage", "NLST", says("what"), "unclear", 2},
		{"no data connection", "NLST", says("425 cannot connect"), "unreachable", 1},
		{"no session resumed", "NLST", ending("522 SSL connection failed; session reuse required"), "unreachable", 1},
		{"EPSV refused", "EPSV", says("500 what"), "done", 1},
		{"EPSV unreadable", "EPSV", says("229 (|||)"), "done", 1},
		{"EPSV without a port", "EPSV", says("229 (|||99999|)"), "unreachable", 0},
		{"EPSV to nobody", "EPSV", says("229 (|||1|)"), "unreachable", 0},
		{"EPSV cut once", "EPSV", first((*talk).cut), "done", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := startFake(t).when(tt.verb, tt.answer)
			d := f.dir()
			_, err := d.List(soon(t), "L")
			if got := come(err); got != tt.want || len(f.sent("NLST")) != tt.sent {
				t.Errorf("the server answers %s with %q: the listing is %s after NLST was sent %d times; want %s after %d; its error is %v; look at judge (outcome.go)", tt.verb, tt.name, got, len(f.sent("NLST")), tt.want, tt.sent, err)
			}
		})
	}
}

// TestPASV: the data connection goes to the server itself, whatever address it names, and no
// reply can do harm.
func TestPASV(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		"":                    "done", // the usual reply names 10.9.8.7
		"227 )(":              "unclear",
		"227 (1,2,3)":         "unreachable",
		"227 ok":              "unreachable",
		"227 (a,b,c,d,e,f)":   "unreachable",
		"227 (1,2,3,4,-5,-6)": "unreachable",
		"500 no":              "unreachable",
	} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			f := startFake(t).when("EPSV", says("500 what"))
			if reply != "" {
				f.when("PASV", says(reply))
			}
			_, err := f.dir().List(soon(t), "L")
			if got := come(err); got != want && !(want == "unclear" && got == "unreachable") {
				t.Errorf("%s; want %s; %v", got, want, err)
			}
		})
	}
}

// TestListCut: a listing that ends too early is an error, wherever it ends.
func TestListCut(t *testing.T) {
	t.Parallel()
	const listing = "a\r\nbb\r\nccc\r\n"
	ends := map[string]func(*talk){
		"426":   says("426 broken off"),
		"cut":   (*talk).cut,
		"reset": reset,
		"226":   says("226 done"), // such a server does not know better
	}
	for name, end := range ends {
		for at := range len(listing) {
			t.Run(fmt.Sprint(name, at), func(t *testing.T) {
				t.Parallel()
				f := startFake(t).when("NLST", func(c *talk) { c.say("150 here it comes"); c.send(listing[:at]); end(c) })
				got, err := f.dir().List(soon(t), "L")
				// A cut between lines cannot be seen if the server says that all is well.
				whole := at == 0 || listing[at-1] == '\n'
				if (come(err) == "unclear") == (name == "226" && whole) || err != nil && got != nil {
					t.Errorf("a listing cut at byte %d gives %q and the error %v", at, got, err)
				}
			})
		}
	}
}

// TestListCutTLS: with TLS a cut is always seen.
func TestListCutTLS(t *testing.T) {
	t.Parallel()
	const listing = "a\r\nbb\r\n"
	for at := range len(listing) + 1 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			f := startFake(t).when("NLST", func(c *talk) {
				c.say("150 here it comes")
				conn, raw := c.accepted()
				_, _ = io.WriteString(conn, listing[:at])
				raw.Close()
				c.say("226 done")
			})
			if got, err := f.secureDir().List(soon(t), "L"); come(err) != "unclear" {
				t.Errorf("a listing cut at byte %d gives %q and the error %v, want unclear", at, got, err)
			}
		})
	}
}

// TestListFlood: a listing without end ends.
func TestListFlood(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"name\r\n", "name"} {
		f := startFake(t).when("NLST", func(c *talk) {
			c.say("150 here it comes")
			c.send(strings.Repeat(text, 1<<20))
			c.say("226 done")
		})
		start := time.Now()
		got, err := f.dir().List(soon(t), "L")
		if err == nil || !strings.Contains(err.Error(), "too") && !strings.Contains(err.Error(), "longer") || time.Since(start) > late {
			t.Errorf("a listing that is too long gives %d names after %v and the error %v, want an error that says so after %v at most", len(got), time.Since(start), err, late)
		}
	}
}

// TestListTooLong: a listing of too many names, or too many bytes, is reported as too long, and
// not asked for again.
func TestListTooLong(t *testing.T) {
	t.Parallel()
	for says, line := range map[string]string{"more than 100000 names": "n\r\n", "more than 16777216 bytes": strings.Repeat("n", 4<<10) + "\r\n"} {
		f := startFake(t)
		f.listing = strings.Repeat(line, 20<<20/len(line))
		_, err := f.dir().List(soon(t), "L")
		if !errors.As(err, new(backend.TooLongError)) || !strings.Contains(err.Error(), says) || backend.CodeOf(err) != protocol.CannotCreate || len(f.sent("NLST")) != 1 {
			t.Errorf("asked %d times: %v, want %q", len(f.sent("NLST")), err, says)
		}
	}
}

// TestPRET: if a server wants PRET, we announce the command with it.
func TestPRET(t *testing.T) {
	t.Parallel()
	f := startFake(t).when("FEAT", says("211-Features:\r\n PRET\r\n211 End"))
	holds(t, f.dir(), "L", "a", "bb")
	if got := f.sent("PRET"); len(got) != 1 || got[0] != "1 PRET NLST /dir/L" {
		t.Errorf("to a server that wants PRET was sent %q, want PRET NLST /dir/L once", got)
	}
}

func TestUTF8(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]int{"L": 0, "Schloß": 1} {
		f := startFake(t)
		d := f.dir(func(a *backend.Address, _ *backend.Access) { a.Path = "/dir/" + base })
		if err := d.Mkdir(soon(t), base); err != nil {
			t.Error(err)
		}
		if len(f.sent("OPTS UTF8 ON")) != want || !slices.Equal(f.sent("MKD"), []string{"1 MKD dir/" + base}) {
			t.Errorf("to make the directory %q was sent %q, want OPTS UTF8 ON %d times, and MKD dir/ with that name", base, f.sent(""), want)
		}
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	f.listing = "drwxr-xr-x    2 1000     1000         4096 Jan 02 03:04 a\r\n" +
		"drwxr-xr-x    2 1000     1000         4096 Jan 02 03:04 .\r\nnonsense\r\n"
	got, err := f.dir().Entries(soon(t), "L")
	if err != nil || len(got) != 1 || got[0].Name != "a" || got[0].Precise || got[0].Modified.Minute() != 4 {
		t.Errorf("LIST is read as %+v with the error %v, want the one entry a, with a time to the minute", got, err)
	}
	f.when("FEAT", says("211-Features:\r\n MLST modify*;\r\n211 End"))
	f.listing = "type=cdir;modify=20250102030405; /dir/L\r\ntype=pdir;modify=20250102030405; /dir\r\n" +
		"type=dir;modify=20250102030405; a\r\ntype=dir; b\r\n"
	got, err = f.dir().Entries(soon(t), "L")
	want := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	if err != nil || len(got) != 2 || got[0].Name != "a" || !got[0].Precise || !got[0].Modified.Equal(want) || !got[1].Modified.IsZero() {
		t.Errorf("MLSD is read as %+v with the error %v, want a with the exact time %v, and one without a time", got, err, want)
	}
	home := f.dir(func(a *backend.Address, _ *backend.Access) { a.Path = "/L" })
	f.listing = "type=cdir; L/lock\r\ntype=dir; a\r\n" // as RFC 3659 says
	if got, err = home.Entries(soon(t), "L/lock"); err != nil || len(got) != 1 || got[0].Name != "a" {
		t.Errorf("MLSD of a path without a slash: %+v, %v", got, err)
	}
	f.when("MLSD", says("550 no"))
	if _, err := f.dir().Entries(soon(t), "L"); !errors.Is(err, dirs.ErrRefused) {
		t.Error(err)
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	f := startFake(t).when(greeting, says("220-hello\x1b[2J\r\n220 world"))
	s, err := f.dir().Session(soon(t))
	if err != nil || s.Greeting != "220-hello?[2J\n220 world" || s.Welcome != "230 welcome" ||
		!slices.Equal(s.Features, []string{"EPSV", "UTF8"}) || !strings.Contains(s.Status, "idle 300") || s.TLS != "" {
		t.Errorf("the session is not as the server said: %+v, error %v", s, err)
	}
}
