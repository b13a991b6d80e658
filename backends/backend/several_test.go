package backend

import (
	"strings"
	"testing"
)

// TestSeveralHosts: an address of several hosts is read strictly, shown in one spelling, and shows
// nothing that may be a password.
func TestSeveralHosts(t *testing.T) {
	schemes := []Scheme{{Name: "etcd", Port: "2379", Several: true}, {Name: "ftp", Port: "21"}}
	for given, want := range map[string]string{
		"etcd://a/x":                           "etcd://a/x",
		"etcd://A:2379,b:2380,[::1]:2379/x//y": "etcd://a,b:2380,[::1]/x/y",
		"etcd://me@a,b/x?tls=yes":              "etcd://me@a,b/x?tls=yes",
		"etcd://a,b//x":                        "etcd://a,b//x",
	} {
		a, err := ParseAddress(given, schemes)
		if err != nil || a.String() != want {
			t.Errorf("%s is read as %s, %v; want %s", given, a, err, want)
			continue
		}
		if again, err := ParseAddress(a.String(), schemes); err != nil || again.Host != a.Host || again.User != a.User || again.Path != a.Path {
			t.Errorf("%s is read as %+v at first, and as %+v, %v, from its own spelling", given, a, again, err)
		}
	}
	for given, says := range map[string]string{
		"etcd://a,/x":              "names no server",
		"etcd://,a/x":              "names no server",
		"etcd://a,me@b/x":          "before the first host",
		"etcd://a,b:0/x":           "port \"0\" is none",
		"etcd://a,b:/x":            "port is missing",
		"etcd://me:s3cret@a,b/x":   "a password has no place",
		"etcd://me:s3,cret@a,b/x":  "names no server",
		"etcd://a,me:s3cret@b/x":   "before the first host",
		"etcd://a:1,me:s3,cret@/x": "names no server",
		"ftp://a,b/x?":             "",
	} {
		a, err := ParseAddress(given, schemes)
		if says == "" {
			if err != nil || len(a.Hosts()) != 2 {
				t.Errorf("%s: %v", given, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%s: the error is %v, want one that says %q, and no password", given, err, says)
		}
	}
}
