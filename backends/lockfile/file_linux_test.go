package lockfile

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"locksmith/test/lab"
)

// TestTouchOfAnothers: a heartbeat works where the file system says that somebody else owns the
// file.
func TestTouchOfAnothers(t *testing.T) {
	lab.NeedRoot(t)
	path := filepath.Join(t.TempDir(), "lock")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	touched := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with this function
		const nobody = 65534
		if err := syscall.Setfsuid(nobody); err != nil {
			touched <- err
			return
		}
		touched <- f.TouchQuietly()
	}()
	if err := <-touched; err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !info.ModTime().After(long.Add(time.Minute)) {
		t.Errorf("last written at %v", info.ModTime())
	}
}

// TestSeat: there are as many seats as asked for, and closing the file frees its seat.
func TestSeat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	sit := func() (*File, bool) {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		seated, err := f.Seat(2)
		if err != nil {
			t.Fatal(err)
		}
		return f, seated
	}
	made, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if mine, err := made.TryLock(); !mine || err != nil {
		t.Fatalf("the kernel lock of a new file is ours: %v (%v), want true", mine, err)
	}
	first, a := sit()
	second, b := sit()
	defer second.Close()
	third, c := sit()
	defer third.Close()
	if !a || !b || c {
		t.Errorf("of three for two seats are seated: %v, %v and %v, want the first two", a, b, c)
	}
	_ = first.Close()
	if seated, err := third.Seat(2); !seated || err != nil {
		t.Errorf("after the first left, the third is seated: %v (%v), want true", seated, err)
	}
	if fourth, d := sit(); d {
		t.Error("a third file has one of the two seats")
	} else {
		_ = fourth.Close()
	}
}
