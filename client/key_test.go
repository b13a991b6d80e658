package client

import (
	"path"
	"strings"
	"testing"

	"locksmith/backends"
	"locksmith/backends/backend"
)

// keys are some that would do harm as they are.
var keys = []string{"", "alice", "Alice", "ALICE", ".", "..", "../x", "a/../b", "/", "/etc/passwd", "a/b", "a//b", "?", "x?style=dir", "?style=dir", "%", "%2e%2e", "a%2Fb", "\x00", "a\x00b", "a\nb", "\xff",
	"é", "e\u0301", "\u202e", "_", "_2e", "k-", "k-alice", "-n", "~root", "con", "nul", " ", "a b", "a:b", "s3://bucket", "shared:x", "#", "&", ";", "+", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("x", 1<<20), strings.Repeat("../", 100),
	"h-2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", "G", "R", "L", "lock"}

// bases are one of each kind, and with what a path and options may have.
var bases = []string{"local:/var/lock", "flock:/var/lock/", "nfs:/srv/50%25 off%3F", "mkdir:/srv/locks?style=dir", "mkdir:/srv/locks/?style=dir&tokens=no", "link:/var//lock",
	"ftp://user@host:21/locks?style=dir", "ftp://host/", "ftp://host//", "ftps://host", "sftp://user@host/locks", "sftp://host//srv/locks/"}

// below returns what an address leads to, and fails unless that is one name below the base, with the
// base's options.
func below(t *testing.T, base, key string) string {
	t.Helper()
	address := Key(base, key)
	kinds := backends.Usual().Schemes()
	at, err := backend.ParsePlace(base, kinds)
	if err != nil {
		t.Fatal(err)
	}
	a, err := backend.ParseAddress(address, kinds)
	if err != nil {
		t.Fatalf("Key(%q, %.40q) is %s: %v", base, key, address, err)
	}
	dir, name := path.Split(a.Path)
	if path.Clean(dir) != path.Clean(at.Path) && !(at.Path == "" && dir == "/") || a.Host != at.Host || a.Scheme != at.Scheme || len(name) > 66 || len(a.Options) != strings.Count(base, "=") || strings.HasPrefix(dir, "//") != strings.HasPrefix(at.Path, "//") {
		t.Errorf("Key(%q, %.40q) is %s, which is not one name below: %q of %q", base, key, address, a.Path, at.Path)
	}
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		t.Errorf("Key(%q, %.40q) is %s, and servers or disks change such names", base, key, address)
	}
	return address
}

// TestKey: distinct keys are distinct locks below the base, also where case does not count, and no key
// leaves it.
func TestKey(t *testing.T) {
	for _, base := range bases {
		of := map[string]string{}
		for _, key := range keys {
			address := strings.ToLower(below(t, base, key))
			if other, taken := of[address]; taken {
				t.Errorf("Key(%q, …) of %.40q and of %.40q is %s", base, key, other, address)
			}
			of[address] = key
		}
	}
	for key, want := range map[string]string{"alice": "nfs:/srv/k-alice", "": "nfs:/srv/k-", "../x?y=Z": "nfs:/srv/k-_2e_2e_2fx_3fy_3d_5a"} {
		if got := Key("nfs:/srv", key); got != want {
			t.Errorf("Key of %q is %s, want %s: others have locks by that name", key, got, want)
		}
	}
	for _, base := range []string{"ftp://", "s3://", "sftp://?x=y"} {
		if a, err := backend.ParseAddress(Key(base, "evil"), []backend.Scheme{{Name: "ftp", Port: "21"}, {Name: "s3", Port: "1"}, {Name: "sftp", Port: "22"}}); err == nil {
			t.Errorf("the key is the host of %s: %s", base, a.Host)
		}
	}
}

// FuzzKey is TestKey for any two keys.
func FuzzKey(f *testing.F) {
	for i, key := range keys {
		f.Add(key, keys[(i+1)%len(keys)])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		for _, base := range bases[:4] {
			if same := strings.EqualFold(below(t, base, one), below(t, base, other)); same != (one == other) {
				t.Errorf("Key(%q, …) of %q and of %q: the same is %v", base, one, other, same)
			}
		}
	})
}
