//go:build unix

package lockfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unicode"

	"golang.org/x/sys/unix"

	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/test/backendtest"
)

// TestOpenHostile: nothing at a path leads us elsewhere or keeps us waiting.
func TestOpenHostile(t *testing.T) {
	for kind, put := range map[string]func(path string) error{
		"a directory": func(p string) error { return os.Mkdir(p, 0o755) },
		"a FIFO":      func(p string) error { return unix.Mkfifo(p, 0o644) },
	} {
		path := filepath.Join(t.TempDir(), "lock")
		backendtest.MustWork(t, put(path))
		f, err := Open(path)
		backendtest.MustWork(t, err)
		defer f.Close()
		if st, err := f.Stat(); err != nil || st.Kind != kind {
			t.Errorf("a %s opened is of the kind %q (%v)", kind, st.Kind, err)
		}
		if st, err := StatServer(path); err != nil || st.Kind != kind {
			t.Errorf("a %s on a server is of the kind %q (%v)", kind, st.Kind, err)
		}
	}
	path := filepath.Join(t.TempDir(), "lock")
	backendtest.MustWork(t, os.Symlink("elsewhere", path))
	for what, open := range map[string]func(string) (*File, error){"open": Open, "open writable": OpenWritable, "create": Create} {
		if _, err := open(path); !errors.Is(err, unix.ELOOP) && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s of a symbolic link that leads nowhere gives the error %v, want that it is a link (ELOOP), or that it exists", what, err)
		}
	}
}

// TestNamed: Named distinguishes a file from its successor, and from no file.
func TestNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := Create(path)
	backendtest.MustWork(t, err)
	defer f.Close()
	backendtest.MustWork(t, f.Named())
	if !IsMarked(path) {
		t.Error("a lock that was just made has no mark")
	}
	backendtest.MustWork(t, os.Remove(path))
	if err := f.Named(); !errors.Is(err, ErrReplaced) {
		t.Errorf("removed: %v", err)
	}
	plain, err := CreatePlain(path, 0o644)
	backendtest.MustWork(t, err)
	backendtest.MustWork(t, errors.Join(plain.Write("17\n"), plain.Close()))
	if err := f.Named(); !errors.Is(err, ErrReplaced) {
		t.Errorf("replaced: %v", err)
	}
	if IsMarked(path) {
		t.Error("another tool's has the mark")
	}
}

// TestReadIsBounded: a file may be as long as somebody likes.
func TestReadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	backendtest.MustWork(t, os.WriteFile(path, make([]byte, 1<<20), 0o644))
	f, err := Open(path)
	backendtest.MustWork(t, err)
	defer f.Close()
	if text, err := f.Read(100); err != nil || len(text) != 100 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestParse(t *testing.T) {
	r := backendtest.Request().Owner
	r.ID = "1"
	text, err := Format(r)
	backendtest.MustWork(t, err)
	inBinary, err := FormatBinary(r)
	backendtest.MustWork(t, err)
	for s, want := range map[string]struct {
		pid   int
		holds bool
	}{text: {0, true}, "1" + text: {}, inBinary: {0, true}, inBinary[:5]: {}, "\x01" + inBinary: {}, "\x01" + inBinary[1:]: {}, " 17 \n\n": {17, false}, "17\nhost\n": {}, "0\n": {}, "": {},
		string(binary.NativeEndian.AppendUint32(nil, 1234567)): {1234567, false}, "\x00\x00\x00\x00": {}, "123\x00": {}, "17\n\x00": {}, "\x00007": {}, "\xff\xff\xff\xff": {}, "123\n": {123, false}, "web3": {}} {
		if c := Parse(s, unicode.IsSpace, false); c.PID != want.pid || c.Holds("1") != want.holds || c.Text != s {
			t.Errorf("the content %q is read as pid %d, record %v, its id is 1: %v; want pid %d, and that its id is 1: %v", s, c.PID, c.Record, c.Holds("1"), want.pid, want.holds)
		}
	}
}

// TestDigitsInBinary: the bytes of a pid may be digits. What we wrote is known by its record, and of another
// program's the address has to say what they are.
func TestDigitsInBinary(t *testing.T) {
	r := backendtest.Request().Owner
	r.ID, r.Helper.PID = "1", 0x3130 // 12592: "01" and two zeros
	ours, err := FormatBinary(r)
	backendtest.MustWork(t, err)
	if c := Parse(ours, unicode.IsSpace, false); !c.Holds("1") || !c.Binary {
		t.Errorf("%q is read as %+v", ours, c)
	}
	if c := Parse(ours[:sizeOfPID], unicode.IsSpace, false); c.PID != 0 || c.Binary {
		t.Errorf("%q is read as %+v", ours[:sizeOfPID], c)
	}
	if c := Parse(ours[:sizeOfPID], unicode.IsSpace, true); c.PID != r.Helper.PID || !c.Binary {
		t.Errorf("%q, said to be in binary, is read as %+v", ours[:sizeOfPID], c)
	}
}

// TestTclOwner: the lockf of Tcl writes host and pid, in any order.
func TestTclOwner(t *testing.T) {
	const rest = " lockfile /tmp/l locker /tmp/.lockf~web3~4242~l~1~2.lck timestamp 1764262013012 time {2026-11-27 16:46:53.12} randomiser "
	dead, here := backendtest.DeadProcess(t).PID, owner.Here()
	for _, c := range []struct {
		text string
		want owner.Verdict
	}{
		{fmt.Sprint("host ", here.Host, " pid ", dead, rest, "{}"), owner.Dead},
		{fmt.Sprint("pid ", dead, rest, "~~~ host ", here.Host), owner.Dead},
		{fmt.Sprint("host ", here.Host, " pid ", os.Getpid(), rest, "~"), owner.Alive},
		{fmt.Sprint("host elsewhere pid ", dead, rest, "~"), owner.Unknown},
		{fmt.Sprint("host ", here.Host, " pid ", dead), owner.Unknown},
		{fmt.Sprint("host ", here.Host, " pid ", dead, " pid 1", rest, "~"), owner.Unknown},
		{fmt.Sprint("host ", here.Host, " pid ", dead, rest, "{~"), owner.Unknown},
	} {
		if here.PIDNS != process.FirstPIDNS {
			c.want = owner.Unknown
		}
		if v := Parse(c.text, unicode.IsSpace, false).Verdict(nil); v != c.want {
			t.Errorf("the verdict on %q is %s, want %s", c.text, v, c.want)
		}
	}
}

func TestIsPublic(t *testing.T) {
	for mode, want := range map[fs.FileMode]bool{0o777: true, 0o755: false, 0o777 | fs.ModeSticky: false, 0o702: true} {
		if IsPublic(mode) != want {
			t.Errorf("IsPublic(%v) is not %v", mode, want)
		}
	}
}
