//go:build unix

package locksmith

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/test/lab"
)

// The test binary also plays the helper. It watches, and says so. Now and then it says on
// standard error that it still watches, and at the end why it stopped.
func TestMain(m *testing.M) {
	if os.Getenv("WATCHER") == "" {
		os.Exit(m.Run())
	}
	w := Watch{Stdin: os.Stdin, Stdout: os.Stdout, Parent: os.Getppid(), Log: hclog.NewNullLogger(), noPidfd: os.Getenv("WATCHER") == "nopidfd"}
	ctx, err := w.Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Fprintln(os.Stderr, "watching")
	for range lab.Patience / 2 / tick {
		select {
		case <-ctx.Done():
			fmt.Fprintln(os.Stderr, context.Cause(ctx))
			return
		case <-time.After(tick):
			fmt.Fprintf(os.Stderr, ticking+"%d\n", clock.Boot{}.Now())
		}
	}
	fmt.Fprintln(os.Stderr, "nothing happened")
}

// A watcher that goes on says so once in a tick, with the time since the machine was booted.
const (
	tick    = 10 * time.Millisecond
	ticking = "at "
)

// A watcher is a running watching process.
type watcher struct {
	*exec.Cmd
	stderr *os.File
	lines  *bufio.Reader // from there
}

func startWatcher(t *testing.T, stdin, stdout *os.File, command ...string) *watcher {
	t.Helper()
	if len(command) == 0 {
		command = []string{os.Args[0]}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "WATCHER=yes", "SELF="+os.Args[0])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = r.Close() })
	lines := bufio.NewReader(r)
	_ = r.SetReadDeadline(time.Now().Add(lab.Patience))
	if got, err := lines.ReadString('\n'); err != nil || got != "watching\n" {
		t.Fatalf("the watcher said %q, %v", got, err)
	}
	return &watcher{cmd, r, lines}
}

// next is what the watcher says next.
func (w *watcher) next(t *testing.T) string {
	t.Helper()
	_ = w.stderr.SetReadDeadline(time.Now().Add(lab.Patience))
	line, err := w.lines.ReadString('\n')
	if err != nil && err != io.EOF {
		t.Fatalf("the watcher says nothing: %v", err)
	}
	return strings.TrimSpace(line)
}

// reason waits for the watcher to stop and returns why.
func (w *watcher) reason(t *testing.T) string {
	t.Helper()
	for {
		if line := w.next(t); !strings.HasPrefix(line, ticking) {
			return line
		}
	}
}

// still makes sure that the watcher runs on for ten ticks without stopping, however long those
// take on this machine.
func (w *watcher) still(t *testing.T) {
	t.Helper()
	begin := clock.Boot{}.Now()
	for ticks := 0; ticks < 10; {
		line := w.next(t)
		at, err := strconv.ParseInt(strings.TrimPrefix(line, ticking), 10, 64)
		if err != nil {
			t.Fatalf("it stopped: %q", line)
		}
		if time.Duration(at) > begin {
			ticks++
		}
	}
}

func (w *watcher) mustStop(t *testing.T, want error) {
	t.Helper()
	if got := w.reason(t); got != want.Error() {
		t.Errorf("stopped because %q, want %q", got, want)
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}

func socketpair(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	ours, theirs = os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	return ours, theirs
}

func devNull(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestStdinPipe(t *testing.T) {
	r, w := pipe(t)
	helper := startWatcher(t, r, devNull(t))
	data := bytes.Repeat([]byte("x"), 60000)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	helper.still(t)
	_ = w.Close()
	helper.mustStop(t, ErrStdinClosed)
	if left, err := io.ReadAll(r); err != nil || !bytes.Equal(left, data) {
		t.Errorf("of %d bytes that nobody read, %d are left in the pipe, with the error %v; the watcher must leave stdin unread", len(data), len(left), err)
	}
}

func TestStdinSocket(t *testing.T) {
	for name, hangUp := range map[string]func(*os.File){
		"closed": func(f *os.File) { _ = f.Close() },
		"shut down for writing, as Node's end() does": func(f *os.File) { _ = unix.Shutdown(int(f.Fd()), unix.SHUT_WR) },
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := socketpair(t)
			helper := startWatcher(t, theirs, devNull(t))
			_ = theirs.Close()
			helper.still(t)
			hangUp(ours)
			helper.mustStop(t, ErrStdinClosed)
		})
	}
}

func TestStdoutReaderGone(t *testing.T) {
	for name, pair := range map[string]func(*testing.T) (*os.File, *os.File){"pipe": pipe, "socket": socketpair} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := pair(t)
			helper := startWatcher(t, devNull(t), theirs) // the end of /dev/null means nothing
			_ = theirs.Close()
			helper.still(t)
			_ = ours.Close()
			helper.mustStop(t, ErrStdoutGone)
		})
	}
}

// TestStdoutHalfClosed: a parent that will write no more to the socket that is our output may still
// read what we say, as ksh93 and PHP do.
func TestStdoutHalfClosed(t *testing.T) {
	ours, theirs := socketpair(t)
	helper := startWatcher(t, devNull(t), theirs)
	_ = theirs.Close()
	if err := unix.Shutdown(int(ours.Fd()), unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	helper.still(t)
	_ = ours.Close()
	helper.mustStop(t, ErrStdoutGone)
}

func TestFilesAreNotWatched(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	helper := startWatcher(t, f, devNull(t))
	helper.still(t)
	_ = helper.Process.Signal(syscall.SIGTERM)
	helper.mustStop(t, &SignalError{syscall.SIGTERM})
}

// TestInheritedStdin: the shell's own standard input is a pipe, which its helper
// merely inherits.
func TestInheritedStdin(t *testing.T) {
	r, w := pipe(t)
	helper := startWatcher(t, r, devNull(t), "sh", "-c", `"$SELF" & wait`)
	_ = helper // the shell gives /dev/null to background jobs
	_ = w.Close()
	helper.still(t)

	r2, w2 := pipe(t)
	shell := startWatcher(t, r2, devNull(t), "sh", "-c", `"$SELF"; exit 0`)
	_ = w2.Close()
	shell.still(t)
}

func TestParentDies(t *testing.T) {
	for _, mode := range []string{"yes", "nopidfd"} {
		t.Run(mode, func(t *testing.T) {
			shell := startWatcher(t, devNull(t), devNull(t), "sh", "-c", `WATCHER=`+mode+` "$SELF" & wait; exit 0`)
			shell.still(t)
			_ = shell.Process.Kill()
			_ = shell.Wait()
			shell.mustStop(t, ErrParentDied)
		})
	}
}

// TestOtherParentDies: the kernel's signal means something only if our own parent died.
func TestOtherParentDies(t *testing.T) {
	for _, noPidfd := range []bool{false, true} {
		other := exec.Command("sleep", "300")
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		f := devNull(t)
		w := Watch{Stdin: f, Stdout: f, Parent: other.Process.Pid, Log: hclog.NewNullLogger(), noPidfd: noPidfd}
		ctx, cancel := context.WithCancelCause(t.Context())
		w.watchParent(ctx, cancel, nil)
		if ctx.Err() != nil {
			t.Errorf("the parent lives, and the watch has ended because of %v", context.Cause(ctx))
		}
		_ = other.Process.Kill()
		_ = other.Wait()
		<-ctx.Done()
		if context.Cause(ctx) != ErrParentDied {
			t.Errorf("the parent has died, and the watch ends because of %v, want ErrParentDied", context.Cause(ctx))
		}
	}
}

func TestParentDiedBeforeWeLooked(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	f := devNull(t)
	w := Watch{Stdin: f, Stdout: f, Parent: gone.Process.Pid, Log: hclog.NewNullLogger()}
	ctx, cancel := context.WithCancelCause(t.Context())
	w.watchParent(ctx, cancel, nil)
	if context.Cause(ctx) != ErrParentDied {
		t.Errorf("the parent died before the watch, which ends because of %v, want ErrParentDied", context.Cause(ctx))
	}
}

func TestSignals(t *testing.T) {
	ours, theirs := pipe(t)
	_ = ours
	withPipe := startWatcher(t, devNull(t), theirs)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGUSR1, deathSignal} {
		_ = withPipe.Process.Signal(s)
	}
	withPipe.still(t)
	_ = withPipe.Process.Signal(syscall.SIGTERM)
	withPipe.mustStop(t, &SignalError{syscall.SIGTERM})

	alone := startWatcher(t, devNull(t), devNull(t))
	_ = alone.Process.Signal(syscall.SIGINT)
	alone.mustStop(t, &SignalError{syscall.SIGINT})
}
