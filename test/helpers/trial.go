//go:build unix

package helpers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
)

// A helper is the program that is checked.
type helper struct {
	command       []string
	lock          string
	within, grace time.Duration
	soon          time.Duration // from a hang-up to the end of the lock, at most
	kept          bool          // nobody takes the lock of a living helper
}

// An outcome is the result of a check: ok, broken, note or not checked, and what was seen.
type outcome struct{ word, seen string }

// A trial is one check of a helper. At the first thing that is wrong its methods end the check
// with a panic, which try recovers.
type trial struct {
	helper
	cleanup []func()
	late    time.Duration // how late after a hang-up the helper was, the last time
}

func (h helper) try(c check) outcome {
	t := &trial{helper: h}
	return t.settle(func() { c.look(t) })
}

// settle returns what came of a look, and cleans up.
func (t *trial) settle(look func()) (o outcome) {
	defer func() {
		for _, f := range slices.Backward(t.cleanup) {
			f()
		}
	}()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case outcome:
			o = r
		default:
			panic(r)
		}
	}()
	look()
	return outcome{word: "ok"}
}

func (t *trial) broken(format string, args ...any) {
	panic(outcome{"broken", fmt.Sprintf(format, args...)})
}

func (t *trial) unchecked(why string) { panic(outcome{"not checked", why}) }

// must ends the check for a reason that is not the helper's fault.
func (t *trial) must(err error) {
	if err != nil {
		t.unchecked(err.Error())
	}
}

// A trial is a lab.T. What fails there is not the helper's fault.
func (t *trial) Helper()                           {}
func (t *trial) Cleanup(f func())                  { t.cleanup = append(t.cleanup, f) }
func (t *trial) Fatalf(format string, args ...any) { t.unchecked(fmt.Sprintf(format, args...)) }

// A link is a pipe or a pair of sockets between us and a helper.
type link struct{ ours, theirs *os.File }

func (t *trial) link(ours, theirs *os.File) link {
	t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	return link{ours, theirs}
}

func (t *trial) pipe() (r, w *os.File) {
	r, w, err := os.Pipe()
	t.must(err)
	return r, w
}

// input is a pipe that the helper reads.
func (t *trial) input() link { r, w := t.pipe(); return t.link(w, r) }

// output is a pipe that the helper writes to.
func (t *trial) output() link { r, w := t.pipe(); return t.link(r, w) }

func (t *trial) sockets() link {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	t.must(err)
	syscall.CloseOnExec(pair[0])
	syscall.CloseOnExec(pair[1])
	t.must(syscall.SetNonblock(pair[0], true)) // for deadlines
	return t.link(os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs"))
}

// writesNoMore shuts down the half of a socket in which we write.
func (t *trial) writesNoMore(l link) {
	raw, err := l.ours.SyscallConn()
	t.must(err)
	t.must(raw.Control(func(fd uintptr) { err = syscall.Shutdown(int(fd), syscall.SHUT_WR) }))
	t.must(err)
}

// call is the helper's command line.
func (t *trial) call(flags ...string) []string {
	return slices.Concat(t.command, []string{"hold"}, flags, []string{"--", t.lock})
}

// hold starts the helper as the package client does.
func (t *trial) hold(flags ...string) *run {
	client := []string{"--parent", strconv.Itoa(os.Getpid()), "--stdin", "watch"}
	return t.start(t.input(), t.output(), t.call(slices.Concat(client, flags)...))
}

// behindShell starts the helper below a shell with the same standard streams. The shell is its
// parent.
func (t *trial) behindShell(flags ...string) *run {
	return t.start(t.input(), t.output(), slices.Concat([]string{"sh", "-c", `"$@"; exit`, "sh"}, t.call(flags...)))
}

// A run is a process of the helper, with our ends of its standard streams.
type run struct {
	*trial
	process       *lab.Process
	stdin, stdout *os.File
	started       time.Time
	lines         *protocol.Reader // nil: nothing was read yet
}

func (t *trial) start(in, out link, argv []string) *run {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout = in.theirs, out.theirs
	r := &run{trial: t, stdin: in.ours, stdout: out.ours, started: time.Now()}
	r.process = lab.Start(t, cmd)
	_ = in.theirs.Close()
	_ = out.theirs.Close()
	t.Cleanup(r.stop)
	return r
}

// stop lets the helper release its lock, if it can, before it is killed.
func (r *run) stop() {
	_ = r.stdin.Close()
	_ = r.stdout.Close()
	_ = r.process.Cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-r.process.Ended():
	case <-time.After(5 * time.Second):
	}
}

// other starts a process that a helper can take for its parent.
func (t *trial) other() *lab.Process { return lab.Start(t, exec.Command("sleep", "600")) }

func pid(p *lab.Process) string { return strconv.Itoa(p.PID()) }

// read returns the next line. The first must come in one piece.
func (r *run) read(within time.Duration) (protocol.Line, error) {
	_ = r.stdout.SetReadDeadline(time.Now().Add(within))
	if r.lines == nil {
		first := make([]byte, 2*protocol.MaxLine)
		n, err := r.stdout.Read(first)
		if err != nil {
			return protocol.Line{}, err
		}
		if !bytes.ContainsRune(first[:n], '\n') {
			r.broken("what is written first is no line: %.80q", first[:n])
		}
		r.lines = protocol.NewReader(io.MultiReader(bytes.NewReader(first[:n]), r.stdout))
	}
	return r.lines.Read()
}

// say returns the next line, which must begin with this word.
func (r *run) say(word string) protocol.Line {
	l, err := r.read(r.within)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.broken("no %s within %v", word, r.within)
	case err == io.EOF:
		r.broken("its output ends without %s", word)
	case err != nil:
		r.broken("instead of %s: %v", word, err)
	case l.Word != word:
		r.broken("instead of %s: %s", word, show(l))
	}
	return l
}

func show(l protocol.Line) string {
	text, err := l.Format()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.200q", text)
}

// ok expects the lock.
func (r *run) ok() protocol.Grant { return r.grant(r.say(protocol.WordOK)) }

func (r *run) grant(l protocol.Line) protocol.Grant {
	g, err := protocol.ParseGrant(l)
	if err != nil {
		r.broken("%v in %s", err, show(l))
	}
	return g
}

// knows expects the lock from a helper that may refuse a flag.
func (r *run) knows(flag string) protocol.Grant {
	l, err := r.read(r.within)
	switch {
	case err != nil:
		r.broken("with %s it says nothing: %v", flag, err)
	case l.Word == protocol.WordErr && l.Value("code") == string(protocol.Usage):
		r.unchecked("it refuses " + flag)
	case l.Word != protocol.WordOK:
		r.broken("with %s, of a lock that is free: %s", flag, show(l))
	}
	return r.grant(l)
}

// silent expects that nothing happens.
func (r *run) silent(when string) {
	if l, err := r.read(r.grace); err == nil {
		r.broken("%s it says %s", when, show(l))
	} else if !errors.Is(err, os.ErrDeadlineExceeded) {
		r.broken("%s its output ends: %v", when, err)
	}
}

// fails expects ERR or LOST with one of these codes, and the exit status of that.
func (r *run) fails(word string, codes ...protocol.Code) protocol.Line {
	l := r.say(word)
	code := protocol.Code(l.Value("code"))
	if !slices.Contains(codes, code) {
		r.broken("the code is none of %v: %s", codes, show(l))
	}
	if l.Text == "" {
		r.broken("no text says why: %s", show(l))
	}
	if word == protocol.WordLost {
		_ = r.stdin.Close()
	}
	r.ends(code.Exit())
	return l
}

// ends expects the end of the output, and then this exit status.
func (r *run) ends(status int) {
	if l, err := r.read(r.within); err == nil {
		r.broken("after its last line it says %s", show(l))
	} else if err != io.EOF {
		r.broken("its output does not end: %v", err)
	}
	r.exits(status)
}

func (r *run) exits(status int) {
	if got := r.status(); got != status {
		r.broken("%v, not exit status %d", r.process.Cmd.ProcessState, status)
	}
}

func (r *run) diesOf(s syscall.Signal) bool { return r.status() == -int(s) }

// status waits for the exit, as long as a helper may take.
func (r *run) status() int {
	select {
	case <-r.process.Ended():
	case <-time.After(r.within):
		r.broken("it does not exit within %v", r.within)
	}
	return r.process.Status()
}

// released expects the end of a lock that was held.
func (r *run) released(status int) {
	r.gone()
	r.ends(status)
}

func (r *run) gone() {
	l := r.say(protocol.WordReleased)
	if held, err := l.Millis("held_ms"); err != nil || held > time.Since(r.started) {
		r.broken("held_ms is not the time since OK: %s", show(l))
	}
}

// letGo closes standard input, as a parent does in the end.
func (r *run) letGo() {
	_ = r.stdin.Close()
	r.released(0)
}

func (r *run) signal(s syscall.Signal) { r.process.Signal(s) }

// free expects that the lock can be had at once.
func (t *trial) free() {
	r := t.hold("--timeout", "0")
	r.knows("--timeout 0")
	r.letGo()
}
