package ftp

import (
	"errors"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/servers"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"/L", "/a/L", "/a.b/c-d/L_1", "/with blank/L", "/.hidden/L", "/Schloß", "/" + strings.Repeat("x", 255), "//L", "//a/L", "/", "//"} {
		a := backend.Address{Scheme: SchemePlain, Host: "h", Path: p, Options: map[string]string{"style": "dir"}}
		if _, err := newServer(a, backend.Access{}); err != nil {
			t.Errorf("the path %s is refused: %v", p, err)
		}
	}
	for _, p := range []string{"/.L", "/-L", "/~L", "/a/-b/L", "/~root/L", "//-L", "//~a/L", "/a*", "/a?", "/a[b]", "/{a}", "/a\\b", `/a"b`, "/a'b", "/ L", "/L ", "/a /L",
		"/a\tb", "/a\u0085b", "/" + strings.Repeat("x", 256), strings.Repeat("/xxxxxxxxx", 100)} {
		var e *backend.Error
		_, err := newServer(backend.Address{Scheme: SchemePlain, Host: "h", Path: p}, backend.Access{})
		if !errors.As(err, &e) || e.Code != "usage" || e.Hint == "" {
			t.Errorf("the path %q gives %v, want code usage and a hint", p, err)
		}
	}
	for _, options := range []map[string]string{{"style": "other"}, {"create": "no"}} {
		if _, err := Open(backend.Address{Scheme: SchemePlain, Host: "h", Path: "/L", Options: options}, backend.Access{}); come(err) != "usage" {
			t.Errorf("the options %v give %v, want code usage", options, err)
		}
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ lock, name, want string }{
		{"/L", ".", "."}, {"/L", "L", "L"}, {"/L", "L/x.1", "L/x.1"}, {"/a/L", ".", "a"}, {"/a/L", "L.r.1/x.1/0", "a/L.r.1/x.1/0"},
		{"//L", ".", "/"}, {"//L", "L", "/L"}, {"//L", "L/x.1", "/L/x.1"}, {"//a/L", ".", "/a"}, {"//a/L", "L.r.1/x.1/0", "/a/L.r.1/x.1/0"},
		{"/", ".", "."}, {"/", "./L/x.1", "L/x.1"}, {"//", ".", "/"}, {"//", "./L/x.1", "/L/x.1"}, {"/", "./../L", ""}, {"/", "./", ""},
		{"/L", "..", ""}, {"/L", "../b", ""}, {"/L", "a/../b", ""}, {"/L", "/a", ""}, {"/L", "", ""}, {"/L", "a//b", ""}, {"/L", "-a", ""}, {"/L", "a/", ""},
	} {
		s := &server{address: backend.Address{Scheme: SchemePlain, Path: tt.lock}}
		if got, err := s.at(tt.name); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s in %s: %q, %v", tt.name, tt.lock, got, err)
		}
	}
}

func TestHostPort(t *testing.T) {
	t.Parallel()
	for host, want := range map[string][2]string{
		"h": {"h:21", "h"}, "h:2121": {"h:2121", "h"}, "[::1]": {"[::1]:21", "::1"}, "[::1]:2121": {"[::1]:2121", "::1"},
	} {
		s := &server{address: backend.Address{Host: host}}
		if hostPort, alone := s.hostPort(); hostPort != want[0] || alone != want[1] {
			t.Errorf("the host %s gives %q and %q, want %q", host, hostPort, alone, want)
		}
	}
}

// TestLongNames: a name that contains a record does not hide what is said about it.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := "x." + strings.Repeat("Record", 30) + ".the-end"
	f := startFake(t)
	refuse := func(c *talk) { c.say("550 /dir/L/" + long + ": File exists, " + long) }
	for _, verb := range []string{"MKD", "RMD", "RNFR", "NLST"} {
		f.when(verb, refuse)
	}
	d := f.dir()
	_, listed := d.List(soon(t), "L/"+long)
	for _, err := range []error{d.Mkdir(soon(t), "L/"+long), d.Rmdir(soon(t), "L/"+long), d.Rename(soon(t), "L/"+long, "L/"+long), listed} {
		if come(err) != "refused" || strings.Contains(err.Error(), strings.Repeat("Record", 5)) ||
			strings.Count(err.Error(), "/dir/L/x.RecordRecordRecord….the-end") < 1 || !strings.Contains(err.Error(), "File exists") {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		strings.Repeat("a", 60):             strings.Repeat("a", 60),
		strings.Repeat("é", 31):             strings.Repeat("é", 10) + "…" + strings.Repeat("é", 4),
		"a" + strings.Repeat("é", 30) + "a": "a" + strings.Repeat("é", 9) + "…" + strings.Repeat("é", 3) + "a",
	} {
		if got := servers.ShortPath("/b/" + name + "/c"); got != "/b/"+want+"/c" {
			t.Errorf("%s is shortened to %s, want /b/%s/c", name, got, want)
		}
	}
}
