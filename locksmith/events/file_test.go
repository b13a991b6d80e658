//go:build unix

package events

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

func appendTo(t *testing.T, path string) *Writer {
	t.Helper()
	w, err := Append(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func write(t *testing.T, w *Writer, events ...Event) {
	t.Helper()
	for _, e := range events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	defer syscall.Umask(syscall.Umask(0))
	write(t, appendTo(t, path), all()[:3]...)
	write(t, appendTo(t, path), all()[3:]...)
	if got := read(t, path); !reflect.DeepEqual(got, all()) {
		t.Errorf("got %v", got)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode() != 0o644 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}

// TestSharedFile: the lines of many writers do not mix.
func TestSharedFile(t *testing.T) {
	const writers, each = 8, 200
	path := filepath.Join(t.TempDir(), "events")
	var group sync.WaitGroup
	for i := range writers {
		w := appendTo(t, path)
		group.Go(func() {
			e := all()[3]
			e.PID, e.Text = i+1, strings.Repeat("x", 10*i)
			for range each {
				if err := w.Write(e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	count := map[int]int{}
	for _, e := range read(t, path) {
		count[e.PID]++
	}
	for i := range writers {
		if count[i+1] != each {
			t.Errorf("%d events of writer %d, want %d", count[i+1], i+1, each)
		}
	}
}

func TestSymbolicLinkIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("target", filepath.Join(dir, "events")); err != nil {
		t.Fatal(err)
	}
	if _, err := Append(filepath.Join(dir, "events")); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "target")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the link's target is there: %v", err)
	}
}

// TestFIFO: a writer does not wait for a reader.
func TestFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Append(path); err == nil || !strings.Contains(err.Error(), "nobody reads") {
		t.Errorf("without a reader: %v", err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	w := appendTo(t, path)
	err = w.Write(all()[0])
	for n := 0; err == nil && n < 100000; n++ {
		err = w.Write(all()[0])
	}
	if !errors.Is(err, unix.EAGAIN) {
		t.Errorf("a full FIFO: %v", err)
	}
	_ = reader.Close()
	if err := w.Write(all()[0]); !errors.Is(err, unix.EPIPE) {
		t.Errorf("the reader has gone: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		lab.Lacking(t, "this system has no /dev/full")
	}
	if err := appendTo(t, "/dev/full").Write(all()[0]); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("got %v", err)
	}
}

// TestTornLine: part of a line spoils no other line.
func TestTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	line := format(t, all()[0])
	if err := os.WriteFile(path, []byte(line+line[:30]), 0o600); err != nil {
		t.Fatal(err)
	}
	w := appendTo(t, path)
	w.torn = true
	write(t, w, all()[1], all()[2])
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	good, bad := 0, 0
	for _, err := range Read(strings.NewReader(string(raw))) {
		if err == nil {
			good++
		} else {
			bad++
		}
	}
	if good != 3 || bad != 1 {
		t.Errorf("%d events and %d other lines, want 3 and 1", good, bad)
	}
}

func TestInheritRefuses(t *testing.T) {
	dir := t.TempDir()
	ours, err := os.Create(filepath.Join(dir, "ours"))
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	// It is as from a parent, which leaves it open on exec.
	reading, err := unix.Open(ours.Name(), unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(reading)
	for name, fd := range map[string]int{"not open": 1 << 20, "our own": int(ours.Fd()), "for reading": reading} {
		if _, err := Inherit(fd); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestInherit: written events arrive, and a child does not get the descriptor.
func TestInherit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Inherit(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	write(t, w, all()...)
	if got := read(t, path); !reflect.DeepEqual(got, all()) {
		t.Errorf("got %v", got)
	}
	if err := exec.Command("sh", "-c", "test ! -e /dev/fd/"+strconv.Itoa(fd)).Run(); err != nil {
		t.Errorf("a child has descriptor %d: %v", fd, err)
	}
}
