//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"locksmith/test/lab"
)

// TestCtrlCEndsLoopWhileWaiting: bash goes on with its loop unless run dies of the signal.
func TestCtrlCEndsLoopWhileWaiting(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	_, release := holdElsewhere(t, lock)
	defer release()
	sh := atPrompt(t)
	sh.keys(t, "for i in 1 2; do locksmith run local:"+lock+" -- true; echo back; done\n")
	sh.until(t, "held by")
	sh.keys(t, ctrlC)
	if said := sh.status(t); strings.Contains(said, "back") || !strings.HasSuffix(said, "status=130.") {
		t.Errorf("Ctrl-C did not end bash's loop, or said too much: %q", said)
	}
}

// TestCtrlCCaught: a command that catches Ctrl-C decides itself, and run waits for it.
func TestCtrlCCaught(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	sh := atPrompt(t)
	sh.keys(t, "for i in 1 2; do locksmith run local:"+lock+` -- sh -c 'trap "echo caught" INT; sh -c "echo ready; exec sleep 300"; test -e '`+lock+"' && echo locked; exit 7'; echo back; done\n")
	for range 2 {
		sh.until(t, "ready")
		sh.keys(t, ctrlC)
		sh.until(t, "caught\r\nlocked\r\nback\r\n")
	}
	mustBeFree(t, lock)
}

// TestCtrlCElsewhere: a command in a session of its own does not get Ctrl-C by itself.
func TestCtrlCElsewhere(t *testing.T) {
	t.Parallel()
	lab.NeedProgram(t, "setsid")
	lock := filepath.Join(t.TempDir(), "lock")
	sh := atPrompt(t)
	sh.keys(t, "locksmith run local:"+lock+" -- setsid sh -c 'echo ready; exec sleep 300'\n")
	sh.until(t, "ready")
	sh.keys(t, ctrlC)
	mustSay(t, sh.status(t), "status=130.")
	mustBeFree(t, lock)
}

// TestInterruptedAlone: at a terminal SIGINT to run alone reaches nobody, like a second one
// after Ctrl-C. SIGTERM is passed on, once.
func TestInterruptedAlone(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	sh := atPrompt(t)
	sh.keys(t, "locksmith run local:"+lock+` -- sh -c 'trap "echo INT" INT; trap "echo TERM; exit 8" TERM; echo pid=$PPID.; while :; do sleep 0.05; done'`+"\n")
	said := sh.until(t, `pid=\d+\.`)
	pid, err := strconv.Atoi(said[strings.Index(said, "pid=")+4 : len(said)-1])
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if err := syscall.Kill(pid, s); err != nil {
			t.Fatal(err)
		}
	}
	mustSay(t, sh.status(t), "\r\nTERM\r\nstatus=8.")
}

// TestCtrlZWhileWaiting: in the background the waiting line leaves the terminal to others. With
// fg it comes back.
func TestCtrlZWhileWaiting(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	_, release := holdElsewhere(t, lock)
	sh := atPrompt(t)
	sh.keys(t, "locksmith run local:"+lock+" -- echo my turn\n")
	sh.until(t, "held by")
	sh.keys(t, ctrlZ)
	mustSay(t, sh.status(t), "status=148.")
	sh.keys(t, "bg; echo b''g; sleep 1.5; echo la''ter\n") // the line is drawn every second
	sh.until(t, "bg\r\n")
	if said := sh.until(t, "later"); said != "later" {
		t.Errorf("a run that waits in the background shows %q", said)
	}
	sh.keys(t, "fg\n")
	sh.until(t, "held by")
	release()
	sh.until(t, "my turn")
	mustSay(t, sh.status(t), "status=0.")
	mustBeFree(t, lock)
}

// TestWaitingInBackground: a run that was started in the background says once whom it waits for.
func TestWaitingInBackground(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	_, release := holdElsewhere(t, lock)
	sh := atPrompt(t)
	sh.keys(t, "locksmith run local:"+lock+" -- echo my turn &\n")
	sh.until(t, "locksmith: waiting: .*held by .*\n")
	release()
	if said := sh.until(t, "my turn"); said != "my turn" {
		t.Errorf("a run that was started in the background shows %q", said)
	}
}

// TestCtrlZWithoutEffect: if Ctrl-Z does not stop the command, it must not stop run: the command
// would go on without heartbeats for its lock.
func TestCtrlZWithoutEffect(t *testing.T) {
	lab.NotShort(t, "waits for seconds")
	t.Parallel()
	for name, command := range map[string]string{
		"ignored":   `sh -c 'trap "" TSTP; echo ready; sleep 5; exit 4'`,
		"elsewhere": `setsid sh -c 'echo ready; sleep 5; exit 4'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab.NeedProgram(t, "setsid")
			sh := atPrompt(t)
			sh.keys(t, "locksmith run nfs:"+filepath.Join(t.TempDir(), "lock")+" -- "+command+"\n")
			sh.until(t, "ready")
			sh.keys(t, ctrlZ)
			mustSay(t, sh.status(t), "status=4.")
		})
	}
}

// TestStoppedByItself: a command that stops itself gives the terminal back.
func TestStoppedByItself(t *testing.T) {
	t.Parallel()
	sh := atPrompt(t)
	sh.keys(t, "locksmith run local:"+filepath.Join(t.TempDir(), "lock")+" -- sh -c 'kill -TSTP $$; exit 4'\n")
	mustSay(t, sh.status(t), "status=148.")
	sh.keys(t, "fg\n")
	mustSay(t, sh.status(t), "status=4.")
}

// TestStoppedTooLong: run was stopped for longer than the lease. When it goes on, it first ends
// the command.
func TestStoppedTooLong(t *testing.T) {
	lab.NotShort(t, "waits for a lease")
	t.Parallel()
	sh := atPrompt(t)
	sh.keys(t, "locksmith run --lease 7 nfs:"+filepath.Join(t.TempDir(), "lock")+" -- sh -c 'echo ready; sleep 300; echo went on'\n")
	sh.until(t, "ready")
	sh.keys(t, ctrlZ)
	mustSay(t, sh.status(t), "status=148.")
	sh.keys(t, "sleep 7.2; fg\n")
	sh.until(t, "the lease could not be renewed in time")
	if said := sh.status(t); strings.Contains(said, "went on") || !strings.HasSuffix(said, "status=79.") {
		t.Errorf("after a stop for longer than the lease run says %q", said)
	}
}

// TestStoppedTooLongButKept: nobody can have taken a lock of local: meanwhile. So the command
// goes on if the file is still there.
func TestStoppedTooLongButKept(t *testing.T) {
	lab.NotShort(t, "waits for a lease")
	t.Parallel()
	for name, c := range map[string]struct {
		work, meanwhile, says, status string
	}{
		"there":   {"sleep 3", "true", "locksmith run", "status=4."},
		"removed": {"sleep 300", "rm", "somebody removed or broke the lock", "status=79."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sh, lock := atPrompt(t), filepath.Join(t.TempDir(), "lock")
			sh.keys(t, "locksmith run --lease 4 local:"+lock+" -- sh -c 'echo ready; "+c.work+"; echo went on; exit 4'\n")
			sh.until(t, "ready")
			sh.keys(t, ctrlZ)
			mustSay(t, sh.status(t), "status=148.")
			sh.keys(t, "sleep 4.2; "+c.meanwhile+" "+lock+"; fg\n")
			sh.until(t, c.says) // fg shows the command, too
			mustSay(t, sh.status(t), c.status)
		})
	}
}

// TestHangUpWhileRunning: when the terminal is closed, the command tidies up under its lock.
func TestHangUpWhileRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, told := filepath.Join(dir, "lock"), filepath.Join(dir, "told")
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--",
		"sh", "-c", `trap "test -e `+lock+` && echo locked >`+told+`; exit 3" HUP; while :; do echo ready; sleep 0.05; done`) // Close waits for a Read to end
	term.mustShow(t, "ready")
	_ = term.tty.Close()
	term.mustExit(t, 3)
	if raw, err := os.ReadFile(told); string(raw) != "locked\n" {
		t.Errorf("after the hang-up the command wrote %q, %v; want that it was still locked", raw, err)
	}
	mustBeFree(t, lock)
}

// TestCtrlZWithoutShell: the kernel stops nobody if no shell would see it.
func TestCtrlZWithoutShell(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	term := atTerminal(t, "locksmith", "run", "local:"+lock, "--", "sh", "-c", "echo ready; read x; exit 4")
	term.mustShow(t, "ready")
	if _, err := term.tty.WriteString(ctrlZ + "word\n"); err != nil {
		t.Fatal(err)
	}
	term.mustExit(t, 4)
}
