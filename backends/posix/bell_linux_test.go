package posix

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

func TestMain(m *testing.M) { lab.Main(m, map[string]func() int{"bell": playBell}) }

// playBell has a bell until it is killed.
func playBell() int {
	b := HangBell(os.Getenv("BELL"))
	fmt.Println("hung", b.hung)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// bellOf is a name that no other run of these tests has.
func bellOf(t *testing.T) string { return fmt.Sprint(t.Name(), os.Getpid()) }

// mustRing waits until the bell rings. A child that was just started has copies of all
// descriptors until the kernel closes them for its program, which may be after lab.Start.
func mustRing(t *testing.T, fd int) {
	t.Helper()
	lab.Eventually(t, "ring", func() bool { return Rang(fd) })
}

// heard listens to a bell that must be there.
func heard(t *testing.T, id string) int {
	t.Helper()
	fd, there := HearBell(id)
	if !there {
		t.Fatalf("no bell %s", id)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if Rang(fd) {
		t.Errorf("bell %s rings when it is heard of", id)
	}
	return fd
}

// TestBell: all who hear the bell are told once, and nothing is left of it.
func TestBell(t *testing.T) {
	id := bellOf(t)
	if _, there := HearBell(id); there {
		t.Fatal("there is a bell that nobody has made")
	}
	b := HangBell(id)
	if second := HangBell(id); second.hung {
		t.Error("two bells of one id")
	}
	one, two := heard(t, id), heard(t, id)
	b.Ring()
	b.Ring()
	mustRing(t, one)
	mustRing(t, two)
	if _, there := HearBell(id); there {
		t.Error("it is there after it has rung")
	}
	again := HangBell(id)
	heard(t, id)
	again.Ring()
}

// TestBellOfKilledProcess: a bell rings when its process is killed.
func TestBellOfKilledProcess(t *testing.T) {
	id := bellOf(t)
	p := lab.Start(t, lab.Copy("bell", "BELL="+id))
	p.Expect("hung true")
	fd := heard(t, id)
	p.Kill()
	mustRing(t, fd)
}

// TestBellIsFull: if too many listen already, the next one hears nothing, and does not hang.
func TestBellIsFull(t *testing.T) {
	id := bellOf(t)
	b := HangBell(id)
	defer b.Ring()
	for range callers + 1 {
		heard(t, id)
	}
	if _, there := HearBell(id); there {
		t.Error("one more can listen than there is room for")
	}
}

// TestBellIsNotInherited: a command that the holder has started does not keep the bell from
// ringing.
func TestBellIsNotInherited(t *testing.T) {
	id := bellOf(t)
	b := HangBell(id)
	lab.Start(t, exec.Command("sleep", "1000")) // it runs longer than anybody waits for the bell
	fd := heard(t, id)
	b.Ring()
	mustRing(t, fd)
}
