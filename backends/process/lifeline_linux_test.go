package process

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// lend makes a lifeline that only a child has, as after the end of its maker.
func lend(t *testing.T) (orphans Process, child *lab.Process) {
	t.Helper()
	return lendTo(t, exec.Command("sleep", "60"))
}

func lendTo(t *testing.T, cmd *exec.Cmd) (orphans Process, child *lab.Process) {
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

const squatter = "LOCKSMITH_TEST_SQUATTER"

// TestSquatter is a process that listens under a name until the process that started it ends.
func TestSquatter(t *testing.T) {
	name := os.Getenv(squatter)
	if name == "" {
		return
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err = errors.Join(err, unix.Bind(fd, lifelineAddress(name)), unix.Listen(fd, 1)); err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdout.WriteString("in\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// as makes a command another user's, who belongs to nobody on this machine.
func as(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 64011, Gid: 64011}}
	return cmd
}

// squat has somebody listen under a name.
func squat(t *testing.T, name string, who func(*exec.Cmd) *exec.Cmd) *exec.Cmd {
	t.Helper()
	cmd := who(exec.Command("/proc/self/exe", "-test.run=^TestSquatter$"))
	cmd.Dir, cmd.Env = "/", append(os.Environ(), squatter+"="+name)
	_, err := cmd.StdinPipe()
	out, failed := cmd.StdoutPipe()
	if err = errors.Join(err, failed, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "in\n" {
		t.Fatalf("the squatter says %q (%v)", line, err)
	}
	return cmd
}

// TestTakenName: all see the name of a lifeline. It proves nothing that another process of the same
// user has it. If another user has it, the lifeline is gone, unless that user made it.
func TestTakenName(t *testing.T) {
	lab.NeedRoot(t)
	if all, err := SeesAllUsers(); !all || err != nil {
		lab.Lacking(t, fmt.Sprint("here not all users are seen: ", err))
	}
	same := func(cmd *exec.Cmd) *exec.Cmd { return cmd }
	for name, c := range map[string]struct {
		who   func(*exec.Cmd) *exec.Cmd
		made  bool // the record says that the squatter made the lifeline
		older bool // the name says no user
		want  string
	}{
		"the same user":            {who: same, want: "unclear"},
		"another user":             {who: as, want: "gone"},
		"another user, older name": {who: as, older: true, want: "unclear"},
		// As root sees the maker in a user namespace where it is root.
		"its maker, whose name says another user": {who: as, made: true, want: "held"},
	} {
		l, err := NewLifeline()
		if err != nil {
			t.Fatal(err)
		}
		CloseFD(l.fd)
		p := Process{PID: os.Getpid(), Lifeline: l.Name}
		if c.older {
			p.Lifeline = l.Name[:24]
		}
		if !p.Gone() {
			t.Errorf("%s: nobody has the name, but it is not gone", name)
		}
		cmd := squat(t, p.Lifeline, c.who)
		if c.made {
			p.PID = cmd.Process.Pid
		}
		var looks []bool
		for c.want == "gone" && len(looks) < 3 { // more than the queue takes
			looks = append(looks, p.Gone())
		}
		got := map[bool]string{true: "gone", false: "held"}[p.Gone()]
		fd, err := p.Open()
		CloseFD(fd)
		if err != nil && got == "held" {
			got = "unclear"
		}
		if slices.Contains(looks, false) || got != c.want || (fd >= 0) != (c.want == "held") {
			t.Errorf("%s has the name: %s (earlier looks %v, descriptor %d, error %v), want %s", name, got, looks, fd, err, c.want)
		}
	}
}

// TestInheritedByAnother: a child that has become another user keeps the lifeline.
func TestInheritedByAnother(t *testing.T) {
	lab.NeedRoot(t)
	orphans, _ := lendTo(t, as(exec.Command("sleep", "60")))
	fd, err := orphans.Open()
	defer CloseFD(fd)
	if err != nil || fd < 0 || orphans.Gone() {
		t.Errorf("while a child of another user has the lifeline, Open gives the descriptor %d and the error %v, and Gone says %v; want a descriptor, and that it is not gone", fd, err, orphans.Gone())
	}
}

// TestListenerUnclear: what kernels tell that do not know, or do not tell, who listens, proves
// nothing.
func TestListenerUnclear(t *testing.T) {
	const self, other = 77, 88
	p := Process{PID: 4242, Lifeline: strings.Repeat("0", 24) + "000003e8"} // made by 1000
	for name, listener := range map[string]unix.Ucred{
		"gVisor tells the one that asks": {Pid: self, Uid: 1001},
		"zeros":                          {},
		"a pid of a namespace elsewhere": {Pid: 0, Uid: 1001},
		"root":                           {Pid: other, Uid: 0},
		"the same user":                  {Pid: other, Uid: 1000},
	} {
		if p.lostNameTo(&listener, self) {
			t.Errorf("%s: it counts as a proof that the lifeline is gone", name)
		}
	}
	if all, err := SeesAllUsers(); p.lostNameTo(&unix.Ucred{Pid: other, Uid: 1001}, self) != (all && err == nil) {
		t.Error("another user and another pid: it counts as a proof only, and always, where all users are seen")
	}
}
