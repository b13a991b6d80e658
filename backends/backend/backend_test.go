package backend

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/owner"
	"locksmith/protocol"
)

var schemes = []string{"local"}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"local:/tmp/x", "local:/a%3Fb%25?unsafe_dir=ok&b=%20", "x", "local:/a//b/.", "ftp://x"} {
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
	for s, hint := range map[string]string{
		"":                          "local:/var/lock/name",
		"/tmp/x":                    "did you mean local:/tmp/x?",
		"nightly":                   "known schemes: local",
		"gopher:/x":                 "known schemes: local",
		"local:x":                   "begin with local:/",
		"local:/x/":                 "name the lock itself",
		"local:/":                   "name the lock itself",
		"local:/a/../b":             "write it without",
		"local:/a%zz":               "%25",
		"local:/a%00":               "%25",
		"local:/a%1b[31m":           "control characters",
		"local:/a%C2%9B31m":         "control characters",
		"local:/a\nb":               "remove them",
		"local:/a\x9b\xff":          "remove them",
		"local:/a?b":                "option=value",
		"local:/a?b=1&b=2":          "option=value",
		strings.Repeat("a", 100000): "shorten it",
	} {
		_, err := ParseAddress(s, schemes)
		if CodeOf(err) != protocol.Usage || !strings.Contains(err.Error(), hint) {
			t.Errorf("%.40q: %v", s, err)
		}
	}
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
		&HeldError{}:                           protocol.Held,
		ErrGone:                                protocol.Gone,
		errors.New(""):                         protocol.Internal,
		FileError("l", "op", syscall.ENOSPC):   protocol.CannotCreate,
		FileError("l", "op", syscall.EROFS):    protocol.CannotCreate,
		FileError("l", "op", fs.ErrPermission): protocol.Permission,
		FileError("l", "op", fs.ErrNotExist):   protocol.CannotCreate,
		FileError("l", "op", syscall.EIO):      protocol.Internal,
		FileError("l", "op", syscall.ELOOP):    protocol.CannotCreate,
		&Error{Code: protocol.Unreachable}:     protocol.Unreachable,
	} {
		if got := CodeOf(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
