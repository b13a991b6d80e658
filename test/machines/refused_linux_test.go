package machines

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

const roleRefusing = "refusing"

// refusing becomes a program to which the kernel refuses system calls. Its arguments are ENOSYS
// or EPERM, the calls, and the program's own path and arguments.
func refusing() int {
	answer := unix.ENOSYS
	if os.Args[1] == "EPERM" {
		answer = unix.EPERM
	}
	err := lab.Refuse(answer, strings.Split(os.Args[2], ",")...)
	if err == nil {
		_ = os.Unsetenv(lab.RoleVariable)
		err = syscall.Exec(os.Args[3], os.Args[3:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "refusing:", err)
	return 125
}

// A kernel is what refuses calls.
type kernel struct{ answer, calls string } // "": it refuses nothing

var (
	calls   = []string{"pidfd_open", "pidfd_send_signal", "openat2", "close_range", "statx", "renameat2", "clone3", "faccessat2"}
	answers = []string{"ENOSYS", "EPERM"}
)

// command runs a command under the kernel. The command may be a shell's.
func (k kernel) command(t *testing.T, of kind, argv ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	argv[0] = path
	cmd := exec.Command(path, argv[1:]...)
	if k.calls != "" {
		cmd = lab.Copy(roleRefusing)
		cmd.Args = append(cmd.Args, append([]string{k.answer, k.calls}, argv...)...)
	}
	cmd.Env = append(cmd.Env, of.with()...)
	return cmd
}

// lease is much longer than proof takes, even on a slow machine.
const lease = 30 * time.Second

// A trial is the result of a lock under a kernel.
type trial struct {
	refused int           // the exit status if locksmith refuses the lock, else 0
	said    string        // why it refuses
	holder  time.Duration // from when a holder was killed with -9 until the waiter had the lock
	parent  time.Duration // from when a parent was killed with -9 until its lock was free
}

func (k kernel) try(t *testing.T, of kind) (tried trial) {
	t.Helper()
	program := program(t)
	name := strings.ReplaceAll(k.answer+k.calls, ",", "-")
	if of.disk {
		_, said := lab.Run(t, k.command(t, of, program, "doctor", of.lock(name+"-doctor")))
		k.mustTell(t, of, said)
	}
	if tried.refused, tried.said = k.life(t, of, of.lock(name+"-life")); tried.refused != 0 {
		return tried
	}
	tried.holder = k.killHolder(t, of, of.lock(name+"-holder"))
	tried.parent = k.killParent(t, of, of.lock(name+"-parent"))
	return tried
}

// life takes a lock and releases it.
func (k kernel) life(t *testing.T, of kind, lock string) (refused int, said string) {
	t.Helper()
	h := lab.Hold(t, k.command(t, of, program(t), "hold", lock))
	line, err := h.Next()
	switch {
	case err != nil:
		t.Fatalf("with %v refused, hold of %s ends without a line: %v\n%s", k, lock, err, h.Stderr())
	case line.Word == "ERR":
		return h.Status(), line.Text + h.Stderr()
	case line.Word != "OK":
		t.Fatalf("with %v refused, hold of %s says %s %s", k, lock, line.Word, line.Text)
	}
	h.Release()
	return 0, ""
}

// killHolder kills run and its command with -9, while somebody waits for the lock.
func (k kernel) killHolder(t *testing.T, of kind, lock string) time.Duration {
	t.Helper()
	cmd := k.command(t, of, program(t), "run", "--lease", lease.String(), lock, "--", "sh", "-c", "echo inside; exec sleep 600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	holder := lab.Start(t, cmd)
	if line, err := holder.Next(); err != nil || line.Text != "inside" {
		t.Fatalf("%v of %s: %v %v\n%s", k, lock, line, err, holder.Stderr())
	}
	waiter := lab.Waiting(t, func(flags ...string) *lab.Helper {
		return lab.Hold(t, k.command(t, of, append([]string{program(t), "hold", "--lease", lease.String(), lock}, flags...)...))
	})
	begin := time.Now()
	_ = syscall.Kill(-holder.PID(), syscall.SIGKILL)
	at := waiter.Held().At
	waiter.Release()
	return at.Sub(begin)
}

// killParent kills a helper's parent with -9, while another process has the other end of the
// helper's standard input.
func (k kernel) killParent(t *testing.T, of kind, lock string) time.Duration {
	t.Helper()
	input, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	defer input.Close()
	cmd := k.command(t, of, "sh", "-c", `"$@" <&3 3<&- & exec 3<&- >&-; wait`, "sh", program(t), "hold", "--lease", lease.String(), lock)
	cmd.ExtraFiles = []*os.File{input}
	cmd.WaitDelay = time.Minute // its child has the output, and goes on
	parent := lab.Hold(t, cmd)
	parent.Held()
	begin := time.Now()
	parent.Signal(syscall.SIGKILL)
	return parent.Says("RELEASED").At.Sub(begin)
}

// String is what a cell of the page says.
func (tr trial) String() string {
	if tr.refused != 0 {
		return fmt.Sprintf("refused (%d)", tr.refused)
	}
	return after(tr.holder) + ", " + after(tr.parent)
}

// soon is the longest that freeing a lock takes if death is proven, even on a slow machine. Who waits
// for the lease waits for three quarters of it at least, for heartbeats come four times a lease.
const soon = lease * 2 / 3

// after is a time and a word for what it means, because numbers differ from run to run.
func after(d time.Duration) string {
	word := "soon"
	if d > soon {
		word = "late"
	}
	return fmt.Sprintf("%s (%.2f s)", word, d.Seconds())
}

// worse returns that of two trials of which there is more to tell.
func worse(a, b trial) trial {
	if a.refused != 0 {
		return a
	}
	if b.refused != 0 {
		return b
	}
	a.holder, a.parent = max(a.holder, b.holder), max(a.parent, b.parent)
	return a
}

// TestRefused: without some system calls each kind of lock is taken, released, and freed after a
// kill as ever; or it is refused with a word about the call, which doctor tells beforehand.
func TestRefused(t *testing.T) {
	lab.NotShort(t, "starts hundreds of programs")
	all := append(disk(t), served(t)...)
	if status, said := lab.Run(t, kernel{"EPERM", "statx"}.command(t, all[0], program(t), "version")); status == 125 {
		lab.Lacking(t, "no seccomp here: "+said)
	}
	rows := []string{strings.Join(calls, ",")}
	if *long {
		rows = append(append([]string{""}, calls...), rows...)
	}
	var mu sync.Mutex
	tried := map[string]trial{} // by row and kind
	t.Run("cells", func(t *testing.T) {
		for _, of := range all {
			for _, answer := range answers {
				t.Run(of.name+" "+answer, func(t *testing.T) {
					t.Parallel()
					for _, row := range rows {
						tr := kernel{answer, row}.try(t, of)
						tr.check(t, kernel{answer, row}, of)
						mu.Lock()
						if other, is := tried[row+of.name]; is {
							tr = worse(other, tr)
						}
						tried[row+of.name] = tr
						mu.Unlock()
					}
				})
			}
		}
	})
	if t.Failed() {
		return
	}
	lab.Publish(t, page, "Kernels that refuse calls", refusedTable(rows, all, tried), *update)
}

// check makes sure that locksmith says why it refuses, and that proof frees locks as ever.
func (tr trial) check(t *testing.T, k kernel, of kind) {
	t.Helper()
	if tr.refused != 0 && !strings.Contains(tr.said, "refuses statx(2)") {
		t.Errorf("with %v refused, locksmith refuses %s with exit status %d and does not name the call: %s", k, of.name, tr.refused, tr.said)
	}
	if tr.refused == 0 && (tr.holder > soon || tr.parent > soon) {
		t.Errorf("with %v refused, the lock of a dead holder of %s is free only %v", k, of.name, tr)
	}
}

// mustTell makes sure that doctor names the missing calls without which something is weaker, and
// no others.
func (k kernel) mustTell(t *testing.T, of kind, said string) {
	t.Helper()
	weaker := []string{"pidfd_open", "openat2", "statx"}
	for _, call := range calls {
		told := strings.Contains(said, "no "+call+" (")
		missing := slices.Contains(weaker, call) && slices.Contains(strings.Split(k.calls, ","), call)
		if told != missing {
			t.Errorf("with %v refused, doctor of %s tells of the call %s: %v\n%s", k, of.name, call, told, said)
		}
	}
}

func refusedTable(rows []string, all []kind, tried map[string]trial) string {
	var b strings.Builder
	fmt.Fprintf(&b, `Written on %s by %s, on Linux %s. Each call was answered with ENOSYS and
with EPERM; of both the worse is shown. In each cell a lock was taken and released. Then
its holder was killed with -9 together with its command, while another one waited: the first time is until that one had the lock.
Then a helper's parent was killed with -9, while somebody else kept the helper's standard input
open: the second time is until the lock was free. The lease was %v. *Refused* is the exit status
of who takes no lock; it names the call, and %s tells of it beforehand. Servers were refused nothing,
but the ssh of %s was.

`, time.Now().Format("2 January 2006"), "`go test ./test/machines -long -update`", release(), lease, "`doctor`", "`sftp:`")
	b.WriteString("| without |")
	for _, of := range all {
		b.WriteString(" `" + of.name + "` |")
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(all)+1) + "\n")
	for _, row := range rows {
		switch {
		case row == "":
			b.WriteString("| nothing refused |")
		case strings.Contains(row, ","):
			b.WriteString("| all of these |")
		default:
			b.WriteString("| " + row + "(2) |")
		}
		for _, of := range all {
			b.WriteString(" " + tried[row+of.name].String() + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func release() string {
	var u unix.Utsname
	_ = unix.Uname(&u)
	return unix.ByteSliceToString(u.Release[:])
}
