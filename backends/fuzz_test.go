package backends

import (
	"testing"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// FuzzOpen: an address opens a lock, or says what is wrong about it; and the canonical
// spelling opens the same.
func FuzzOpen(f *testing.F) {
	for _, s := range []string{
		"local:/x?fs=any&dir=any", "nfs:/x?create=no&fs=network", "mkdir:/x/y?style=dir&tokens=no", "link:/x/y?pids=local&touch=ahead",
		"ftp://u@h:2121/x?style=dir", "ftps://h/x", "ftp://u@h/~x", "ftp://u%0d%0aDELE@h/x", "ftp://u@h/x%0d%0aDELE", "ftp://h/*",
		"link:/x\u202ey", "local:/%E2%80%AE", "mkdir:/?style=dir", "ftp://[fe80::1%25eth0]/x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		b, canonical, err := Usual().Open(address, backend.Access{})
		if err != nil {
			if backend.CodeOf(err) != protocol.Usage {
				t.Errorf("%q: %v", address, err)
			}
			return
		}
		if b == nil || len(canonical) > 4*len(address)+10 || protocol.CleanText(canonical, len(canonical)) != canonical {
			t.Errorf("%q became %q", address, canonical)
		}
		if _, again, err := Usual().Open(canonical, backend.Access{}); len(canonical) <= 1024 && (err != nil || again != canonical) {
			t.Errorf("%q became %q became %q, %v", address, canonical, again, err)
		}
	})
}
