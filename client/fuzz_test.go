package client

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// FuzzHelper: whatever a program says as the helper, the lock does not count as held without an
// OK, nor as released without a RELEASED. The helper's end is a loss, because nobody has let go.
func FuzzHelper(f *testing.F) {
	const ok = "OK proto=1 id=a mode=exclusive waited_ms=0 lease_ms=60000 lock=local:/x\n"
	for _, s := range []string{
		"", ok, ok + "RELEASED held_ms=7\n", ok + "BEAT sent_ms=99999\nLOST code=gone text=x\n", ok + "LOST\nRELEASED", ok + "RELEASED\nx",
		"ERR code=held pid=-1 text=x\n", "ERR\n", "RELEASED held_ms=1\n" + ok, "OK proto=2\n", "OKAY\n", "\x1b[2J\n", strings.Repeat("x", protocol.MaxLine+1),
		strings.Replace(ok, "60000", "0", 1) + "BEAT sent_ms=9223372036854\n", strings.Replace(ok, "60000", "9223372036854775807", 1),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, said string) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		h := &helper{stdout: r, lines: make(chan reading), exited: make(chan struct{})}
		go func() {
			_, _ = io.WriteString(w, said)
			_ = w.Close()
		}()
		go h.read()
		first := <-h.lines
		if first.err != nil || first.line.Word != protocol.WordOK {
			h.discard()
			return
		}
		if !strings.HasPrefix(said, "OK") {
			t.Fatalf("a helper that says %q is believed to hold the lock", said)
		}
		l, err := newLock(context.Background(), "local:/x", nil, h, first.line)
		if err != nil {
			h.discard()
			return
		}
		select {
		case <-l.ended:
		case <-time.After(time.Minute):
			t.Fatalf("after a helper said %q and ended, listen does not end", said)
		}
		if l.wasReleased() && !strings.Contains(said, "\nRELEASED") {
			t.Errorf("a helper that says %q is believed to have released", said)
		}
		if l.Err() == nil {
			t.Errorf("a helper that says %q and ends is no loss, though nobody has let go", said)
		}
	})
}

// FuzzLockName: the lock of a file is beside it, whatever its name. Its address is read as it
// was made, or refused for what addresses may not hold.
func FuzzLockName(f *testing.F) {
	for _, s := range []string{"phones.csv", "50% off?", "a/../b", "..", ".", "/", "//", "a\x00b", "\xff", "\x1b[2J", "a\nb", "link", "link/../x", strings.Repeat("x", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		if strings.HasPrefix(file, "/") || strings.Contains(file, "..") {
			return // it is not in our directory
		}
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		address, err := LockName("local", dir+"/"+file, "")
		if err != nil {
			return
		}
		a, err := backend.ParseAddress(address, []backend.Scheme{{Name: "local"}})
		if err != nil {
			return
		}
		base := filepath.Base(filepath.Join(dir, file))
		if want := filepath.Join(filepath.Dir(filepath.Join(dir, file)), "."+base+".lock"); a.Path != want || a.String() != address || len(a.Options) > 0 {
			t.Errorf("%q: %s leads to %q, want %q", file, address, a.Path, want)
		}
	})
}
