package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// lend makes a lifeline that only a child has, as after the end of its maker.
func lend(t *testing.T) (orphans Process, child *lab.Process) {
	t.Helper()
	l, err := NewLifeline()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := l.Lend()
	if err != nil || fd < 50 || fd >= 64 {
		t.Fatalf("the lent descriptor is %d (%v), want one from 50 to 63", fd, err)
	}
	f := os.NewFile(uintptr(fd), "lifeline")
	defer f.Close()
	cmd := exec.Command("sleep", "60")
	cmd.ExtraFiles = []*os.File{f}
	child = lab.Start(t, cmd)
	CloseFD(l.fd)
	return Process{PID: os.Getpid(), Lifeline: l.Name}, child
}

// TestLifeline: a lifeline is there until the last process that inherited it has ended, and that
// wakes us.
func TestLifeline(t *testing.T) {
	orphans, child := lend(t)
	fd, err := orphans.Open()
	if err != nil || fd < 0 || orphans.Gone() {
		t.Fatalf("while a child has the lifeline, Open gives the descriptor %d and the error %v, and Gone says %v; want a descriptor, and that it is not gone", fd, err, orphans.Gone())
	}
	defer CloseFD(fd)
	if err := PollFor(t.Context(), time.Millisecond, fd); err != nil {
		t.Fatal(err)
	}
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0); n != 0 {
		t.Error("awake while a child has it")
	}
	child.Kill()
	if err := Poll(t.Context(), fd); err != nil {
		t.Fatal(err)
	}
	if again, err := orphans.Open(); !orphans.Gone() || again >= 0 || err != nil {
		t.Errorf("when nobody has the lifeline, Open gives the descriptor %d and the error %v, and Gone says %v; want -1, no error, and that it is gone", again, err, orphans.Gone())
	}
}

// TestLifelineUnclear: what cannot be known from here proves nothing.
func TestLifelineUnclear(t *testing.T) {
	orphans, _ := lend(t)
	for range lookers + 2 {
		fd, err := orphans.Open()
		CloseFD(fd)
		if err != nil {
			break
		}
	}
	elsewhere := Process{PID: os.Getpid(), Lifeline: strings.Repeat("0", len(orphans.Lifeline))}
	another, _ := lend(t)
	another.PID++
	for name, p := range map[string]Process{"full": orphans, "another network namespace": elsewhere, "another process listens": another} {
		if fd, err := p.Open(); p.Gone() || fd >= 0 || err == nil {
			t.Errorf("a lifeline that cannot be asked (%s): Open gives the descriptor %d and the error %v, and Gone says %v; want an error, and that it is not gone", name, fd, err, p.Gone())
		}
	}
}

// TestInheritors: people may be told to end whoever has a lifeline. So if another process made
// the lifeline, which a forged record may name, nobody counts as having it.
func TestInheritors(t *testing.T) {
	orphans, child := lend(t)
	if all := orphans.Inheritors(); len(all) != 1 || all[0].PID != child.PID() {
		t.Errorf("%+v, want pid %d", all, child.PID())
	}
	orphans.PID++
	if all := orphans.Inheritors(); len(all) > 0 {
		t.Errorf("the lifeline of another maker is found with the processes %+v, want none", all)
	}
}

// TestForgedLine: a line feed in the name of a socket can make a second line. Then nobody knows
// which line is true.
func TestForgedLine(t *testing.T) {
	const name = "@locksmith/x"
	line := func(inode string) string { return "0: 00000002 00000000 00010000 0001 01 " + inode + " " + name + "\n" }
	for text, want := range map[string]string{
		line("17"):              "socket:[17]",
		line("17") + line("18"): "",
		"":                      "",
	} {
		if got := listeningIn(text, name); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
