package backend

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/owner"
	"locksmith/protocol"
)

var schemes = []Scheme{{Name: "local"}, {Name: "ftp", Port: "21"}}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"local:/tmp/x", "local:/a%3Fb%25?unsafe_dir=ok&b=%20", "x", "local:/a//b/.", "ftp://x", "ftp://a%40b@[::1]:2121/x%25?style=dir", "ftp://u:p@h/x", "ftp://h//x", "ftp://h/%2F./%2fx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s, schemes)
		if err != nil {
			if CodeOf(err) != protocol.Usage || len(err.Error()) > 1000 {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		clean := path.Clean(a.Path)
		if a.Host != "" && strings.HasPrefix(a.Path, "//") {
			clean = "/" + clean
		}
		if a.Path != clean || a.Path[0] != '/' || strings.ContainsFunc(a.Path+a.User+a.Host, protocol.IsControl) {
			t.Fatalf("%q became %+v", s, a)
		}
		once := a.String()
		b, err := ParseAddress(once, schemes)
		if len(once) > maxAddress {
			return // escapes may lengthen it past the limit
		}
		if err != nil || b.String() != once {
			t.Fatalf("%q became %q became %q, %v", s, once, b.String(), err)
		}
	})
}

func TestAddressRefuses(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for s, hint := range map[string]string{
		"":                          "local:/var/lock/name",
		"/tmp/x":                    "did you mean flock:/tmp/x, which flock(1) locks, too?",
		"nightly":                   "known schemes: local, ftp",
		"gopher:/x":                 "known schemes: local, ftp",
		"local:x":                   "begin with local:/, as in local:" + filepath.ToSlash(here) + "/x",
		"local:/x/":                 "name the lock itself",
		"local:/":                   "name the lock itself",
		"local:/.":                  "name the lock itself",
		"ftp://h/./.":               "name the lock itself",
		"ftp://h//":                 "name the lock itself",
		"ftp://h//.":                "name the lock itself",
		"ftp://h//a/../b":           "write it without",
		"local:/a%E2%80%AEb":        "control characters",
		"local:/a/../b":             "write it without",
		"local:/a%zz":               "%25",
		"local:/a%00":               "%25",
		"local:/a%1b[31m":           "control characters",
		"local:/a%C2%9B31m":         "control characters",
		"local:/a\nb":               "remove them",
		"local:/a\x9b\xff":          "remove them",
		"local:/a?b":                "option=value",
		"ftp:/x":                    "ftp://user@host/path",
		"ftp:///x":                  "ftp://user@host/path",
		"ftp://@h/x":                "ftp://user@host/path",
		"ftp://h:0/x":               "port",
		"ftp://h:65536/x":           "port",
		"ftp://u%0a@h/x":            "control characters",
		"ftp://h h/x":               "ftp://user@host/path",
		"ftp://[fe80::1%25a%2Fb]/x": "ftp://user@host/path",
		"ftp://h":                   "names no lock there",
		"ftp://u:secret@h/x":        "no place in an address",
		"local:/a?b=1&b=2":          "option=value",
		strings.Repeat("a", 100000): "shorten it",
	} {
		_, err := ParseAddress(s, schemes)
		if CodeOf(err) != protocol.Usage || !strings.Contains(err.Error(), hint) {
			t.Errorf("%.40q: %v", s, err)
		}
	}
}

func TestAddressOfServer(t *testing.T) {
	for s, want := range map[string]string{
		"ftp://h/x":                       "ftp://h/x",
		"ftp://loader@FTP.example.org/x":  "ftp://loader@ftp.example.org/x",
		"ftp://h:21/a//x?style=dir":       "ftp://h/a/x?style=dir",
		"ftp://h:2121/x":                  "ftp://h:2121/x",
		"ftp://h//a/x":                    "ftp://h//a/x",
		"ftp://h///a//x":                  "ftp://h//a/x",
		"ftp://h/%2Fa/x?style=dir":        "ftp://h//a/x?style=dir",
		"ftp://h/%2f%2fa%2Fx":             "ftp://h//a/x",
		"ftp://h/./a":                     "ftp://h/a",
		"ftp://a%40b.de@[2001:DB8::1]/x":  "ftp://a%40b.de@[2001:db8::1]/x",
		"ftp://[fe80::1%25eth0]:2121/x":   "ftp://[fe80::1%25eth0]:2121/x",
		"ftp://h/x?o=http%3A%2F%2Fh:9%2F": "ftp://h/x?o=http://h:9/",
	} {
		a, err := ParseAddress(s, schemes)
		if err != nil || a.String() != want {
			t.Errorf("%s: %s, %v", s, a, err)
		}
	}
}

// TestPlace: a directory may end in a slash, and be where a log in leads or the root.
func TestPlace(t *testing.T) {
	for s, want := range map[string]string{
		"ftp://h": "ftp://h/", "ftp://h/": "ftp://h/", "ftp://h/.": "ftp://h/", "ftp://u@h:2121?style=dir": "ftp://u@h:2121/?style=dir",
		"ftp://h//": "ftp://h//", "ftp://h/%2F": "ftp://h//", "ftp://h///?style=dir": "ftp://h//?style=dir",
		"ftp://h/a": "ftp://h/a", "ftp://h/a/": "ftp://h/a", "ftp://h//a/?style=dir": "ftp://h//a?style=dir",
		"local:/a/": "local:/a", "local:/a/.": "local:/a",
		"local:/": "", "local:": "", "local:a/": "", "ftp://": "", "ftp://u:p@h": "", "ftp://h/..": "", "ftp://h/%zz": "", "ftp://h/a/../": "",
	} {
		a, err := ParsePlace(s, schemes)
		if err == nil && a.String() != want || err != nil && (want != "" || CodeOf(err) != protocol.Usage) {
			t.Errorf("%s: %s, %v", s, a, err)
		}
	}
	for place, lock := range map[string]string{"ftp://h/": "ftp://h/L", "ftp://h//": "ftp://h//L", "ftp://h/?style=dir": "ftp://h/L?style=dir"} {
		if got := Name(place).Below("/L"); string(got) != lock {
			t.Errorf("below %s: %s, want %s", place, got, lock)
		}
	}
}

// TestNoPasswordShown: whoever writes one into an address does not find it in a
// log as well.
func TestNoPasswordShown(t *testing.T) {
	for s, shown := range map[string]string{
		"ftp://u:S3cret@h/x":                "ftp://u:…@h/x",
		"ftp://u:S3cret@h:x/x":              "ftp://u:…@h:x/x",
		"ftp://u:S3cret@h:9x9/":             "ftp://u:…@h:9x9/",
		"ftp://u:S3cret@h /x":               "ftp://u:…@h /x",
		"ftp://u:S3cret@":                   "ftp://u:…@",
		"ftp://u:a@S3cret@h/x":              "ftp://u:…@h/x",
		"ftp://u:S?3cret@h/x":               "ftp://u:…",
		"ftpx://u:S3cret@h/x":               "ftpx:…@h/x",
		"ftp:u:S3cret@h":                    "ftp:…@h",
		"ftp:/u:S3cret@h/x":                 "ftp:/u:…@h/x",
		"ftp//u:S3cret@h":                   "ftp//u:…@h",
		"ftp;//u:S3cret@h":                  "ftp;//u:…@h",
		"u:S3cret@h/x":                      "u:…@h/x",
		"/u:S3cret@h/x":                     "/u:…@h/x",
		"ftp://u@h/x/?password=S3cret":      "ftp://u@h/x/?password=…",
		"ftp://u@h/x/?a=b&pass=S3cret":      "?a=b&pass=…",
		"ftp://u@h/x?pass=%S3cret":          "?pass=…",
		"ftp://u@h/x?p%61ss=S3cret":         "?…=…",
		"ftp://u@h/x?Password=S3cret&b=1":   "?Password=…&b=1",
		"ftp://u@h/x?secret_of=S3cret":      "?secret_of=…",
		"ftp://u@h/x?tokens=S3cret":         "?tokens=…",
		"ftp://u@h/x?style=dri":             "?style=dri",
		"ftp://u@h/x?style=u:S3cret@h2":     "?style=…",
		"ftp://u@h/x?u:S3cret@h2":           "…",
		"ftp://u@h:2121/u:S3cret@h2/x?b=no": "ftp://u@h:…@h2/x?b=no",
		"ftp://u:/S3cret@h/x":               "ftp://u:…@h/x",
		"ftp://u:21/S3cret@h/x?b=no":        "ftp://u:…@h/x?b=no",
		"ftp://u:21/x?b=S3cret&c=@h":        "ftp://u:…",
	} {
		err := refusal(s)
		if err == nil || strings.Contains(err.Error(), "3cret") || !strings.Contains(err.Error(), shown) {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// refusal is the error of an address, or of its options.
func refusal(s string) error {
	a, err := ParseAddress(s, schemes)
	if err == nil {
		err = a.CheckOptions(map[string][]string{"style": {"plain", "dir"}, "tokens": {"yes", "no"}})
	}
	return err
}

// FuzzNoPasswordShown: however an address is malformed, what stands between a colon
// and an @, or is the value of an option that may be secret, is not shown. What
// stands where a scheme that is known has its user or host is no password.
func FuzzNoPasswordShown(f *testing.F) {
	for _, s := range []string{"ftp:", "ftp:/u:", "ftp//u:", "ftp://u@h/x?a=", "ftp://u@h/x?", "local:/x?u:", "u:p", "0", "?x:y@z&", "ftp://h?pass:y@"} {
		for _, end := range []string{"@h", "@h:9x9/", "@h/x?pass=1", "?3@h", "&b=@", "=@&c", ":"} {
			f.Add(s, end)
		}
	}
	const secret = "S3cret"
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(before+after, secret) {
			return
		}
		all := []string{before + "?passwort=" + secret + after, before + "&token=" + secret + after}
		if !strings.Contains(before, "?") {
			all = all[:1]
		}
		password := before
		for _, k := range schemes {
			if rest, ok := strings.CutPrefix(before, k.Name+":"); ok && strings.HasPrefix(rest+secret, "/") {
				password = rest
			}
		}
		if strings.Contains(password, ":") && strings.Contains(after, "@") {
			all = append(all, before+secret+after)
		}
		for _, s := range all {
			if err := refusal(s); err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%q: %v", s, err)
			}
		}
	})
}

func TestAddressOptions(t *testing.T) {
	a, err := ParseAddress("local:/a/./b//c?fs=any", schemes)
	if err != nil || a.Path != "/a/b/c" {
		t.Fatalf("%+v, %v", a, err)
	}
	if err := a.CheckOptions(map[string][]string{"fs": {"any"}}); err != nil {
		t.Error(err)
	}
	for _, known := range []map[string][]string{{}, {"fs": {"ext4"}}} {
		if err := a.CheckOptions(known); CodeOf(err) != protocol.Usage {
			t.Errorf("%v: %v", known, err)
		}
	}
}

func TestHeldErrorTellsWho(t *testing.T) {
	err := &HeldError{Lock: "local:/x", Holder: Holder{PID: 4242, Age: 192 * time.Second, Heartbeat: 4 * time.Second,
		Record: &owner.Record{User: "alice", Place: owner.Place{Host: "web3\x1b[2J"}, Meta: []protocol.Field{{Key: "job", Value: "nightly"}}}}}
	want := "local:/x: held by alice@web3?[2J (pid 4242, job=nightly) for 3m12s, last heartbeat 4s ago"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if s := (Holder{}).String(); s != "somebody unknown" {
		t.Error(s)
	}
}

func TestCodes(t *testing.T) {
	for err, want := range map[error]protocol.Code{
		&HeldError{}: protocol.Held,
		&HeldError{Obstacle: &Error{Code: protocol.Unreachable}}: protocol.Unreachable,
		ErrGone:                                protocol.Gone,
		fmt.Errorf("late: %w", ErrNoAnswer):    protocol.Unreachable,
		errors.New(""):                         protocol.Internal,
		FileError("l", "op", syscall.ENOSPC):   protocol.CannotCreate,
		FileError("l", "op", syscall.EROFS):    protocol.CannotCreate,
		FileError("l", "op", fs.ErrPermission): protocol.Permission,
		FileError("l", "op", fs.ErrNotExist):   protocol.CannotCreate,
		FileError("l", "op", syscall.EFBIG):    protocol.CannotCreate,
		FileError("l", "op", syscall.EIO):      protocol.Internal,
		FileError("l", "op", syscall.ELOOP):    protocol.CannotCreate,
		&Error{Code: protocol.Unreachable}:     protocol.Unreachable,
	} {
		if got := CodeOf(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

// TestHolding: a holder that says for how long it holds at most is shown with the time of day
// at which that ends, whichever clock it has itself.
func TestHolding(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	overdue := Holder{Record: &owner.Record{User: "a", Place: owner.Place{Host: "web3"}, MaxHold: 5 * time.Hour}, Age: 30 * time.Hour}
	if got := overdue.Holding(noon); got != "a@web3 for 30h0m0s, until Tue 30 Jun 11:00 at the latest" {
		t.Errorf("overdue: %q", got)
	}
	for most, want := range map[time.Duration]string{
		0: "a@web3 for 1h0m0s; odd", 13 * time.Hour: "a@web3 for 1h0m0s, until Thu 2 Jul 00:00 at the latest; odd",
		5 * time.Hour:  "a@web3 for 1h0m0s, until 16:00 at the latest; odd",
		25 * time.Hour: "a@web3 for 1h0m0s, until Thu 2 Jul 12:00 at the latest; odd",
	} {
		h := Holder{Record: &owner.Record{User: "a", Place: owner.Place{Host: "web3"}, MaxHold: most}, Age: time.Hour, Note: "odd"}
		if got := h.Holding(noon); got != want {
			t.Errorf("%v: %q", most, got)
		}
	}
}
