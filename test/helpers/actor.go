//go:build unix

package helpers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/locksmith"
	"locksmith/protocol"
)

// An actor is a helper that plays a part: it has no lock. It watches its parent as our helpers
// do.
type actor struct {
	notes  *os.File
	lock   string
	parent int
	wanted context.Context
}

// lingers is the part of a child that has the helper's output.
const lingers = "lingers"

// tick is how often an actor looks whether the play is over. pause is how long it keeps its
// parent waiting. A parent that does not wait works within that time.
const tick, pause = 50 * time.Millisecond, 400 * time.Millisecond

// play plays a part with the arguments of a helper, and returns the exit status.
func play(name string, args []string) int {
	dir := os.Getenv(dirVariable)
	go func() {
		for exists(filepath.Join(dir, notes)) {
			time.Sleep(tick)
		}
		os.Exit(protocol.Internal.Exit())
	}()
	if name == lingers {
		select {}
	}
	file, err := os.OpenFile(filepath.Join(dir, notes), os.O_WRONLY|os.O_APPEND, 0)
	i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
	if err != nil || i < 0 || len(args) < 2 {
		return protocol.Internal.Exit()
	}
	a := &actor{notes: file, lock: args[len(args)-1], parent: os.Getppid()}
	use := locksmith.StdinAuto
	for i, arg := range args {
		flag, value, given := strings.Cut(arg, "=")
		if !given && i+1 < len(args) {
			value = args[i+1]
		}
		switch flag {
		case "--parent":
			a.parent, _ = strconv.Atoi(value)
		case "--stdin":
			use = locksmith.StdinUse(value)
		}
	}
	a.note("start %q", args[1:])
	watch := locksmith.Watch{Stdin: os.Stdin, Stdout: os.Stdout, StdinUse: use, Parent: a.parent, Log: hclog.NewNullLogger()}
	a.wanted, _ = watch.Start(context.Background())
	parts[i].play(a)
	return protocol.Internal.Exit()
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// note leaves a line for the checker.
func (a *actor) note(format string, args ...any) { fmt.Fprintf(a.notes, format+"\n", args...) }

// write says something in one write.
func (a *actor) write(text string) { _, _ = os.Stdout.WriteString(text) }

func (a *actor) granted() protocol.Line {
	return protocol.Grant{ID: strconv.Itoa(os.Getpid()), Mode: "exclusive", Lease: time.Minute, Lock: a.lock}.Line()
}

// say says a line that keeps to the grammar.
func (a *actor) say(l protocol.Line) { a.write(format(l)) }

func format(l protocol.Line) string {
	text, err := l.Format()
	if err != nil {
		panic(err)
	}
	return text
}

// exit ends the part.
func (a *actor) exit(status int) {
	a.note("exit %d", status)
	os.Exit(status)
}

// letGo waits until the parent does not want the lock any more, and returns the exit status for
// that.
func (a *actor) letGo() int {
	<-a.wanted.Done()
	a.note("let go: %v", context.Cause(a.wanted))
	if signal, is := context.Cause(a.wanted).(*locksmith.SignalError); is {
		return 128 + int(signal.Signal.(syscall.Signal))
	}
	return 0
}

// released says that the lock is gone, and exits.
func (a *actor) released(status int) {
	a.say(protocol.Released(time.Second))
	a.exit(status)
}

func (a *actor) holds() {
	a.say(a.granted())
	a.released(a.letGo())
}

// early notes whether the parent works, after a pause.
func (a *actor) early() {
	time.Sleep(pause)
	if text, err := os.ReadFile(filepath.Join(os.Getenv(dirVariable), said)); err == nil && len(text) > 0 {
		a.note("early")
	}
}

func (a *actor) late() {
	a.early()
	a.holds()
}

func (a *actor) halting() {
	whole, said := format(a.granted()), 0
	for _, end := range []int{1, len("OK proto"), len(whole) - 1} {
		a.write(whole[said:end])
		a.early()
		said = end
	}
	a.write(whole[said:])
	a.released(a.letGo())
}

func (a *actor) cutOff() {
	a.write("OK proto=1 id=3")
	a.exit(protocol.Internal.Exit())
}

func (a *actor) refuses() {
	a.say(protocol.Holder{Host: "elsewhere", PID: 42, Age: time.Minute}.Append(protocol.Failure(protocol.WordErr, protocol.Held, a.lock+": held by 42@elsewhere")))
	a.exit(protocol.Held.Exit())
}

func (a *actor) dies() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (a *actor) longWinded() {
	l := a.granted()
	l = l.With("ballast", strings.Repeat("x", protocol.MaxLine-len(format(l))-len(" ballast=")))
	a.say(l)
	a.released(a.letGo())
}

func (a *actor) talkative() {
	a.write(format(a.granted()) + "PRAISE to=the_holder\n")
	a.released(a.letGo())
}

func (a *actor) newKeys() {
	l := a.granted()
	l.Fields = append([]protocol.Field{{Key: "colour", Value: "red"}}, l.Fields...)
	slices.Reverse(l.Fields)
	l.Text = "welcome"
	a.say(l)
	a.released(a.letGo())
}

func (a *actor) newer() {
	a.write(strings.Replace(format(a.granted()), "proto=1", "proto="+strconv.Itoa(protocol.Version+1), 1))
	a.released(a.letGo())
}

func (a *actor) noisy() {
	for range 4096 {
		fmt.Fprintln(os.Stderr, strings.Repeat("locksmith has a lot to say ", 3))
	}
	a.holds()
}

func (a *actor) loses() {
	a.write(format(a.granted()) + format(protocol.Failure(protocol.WordLost, protocol.Gone, a.lock+": somebody removed it")))
	a.letGo()
	a.exit(protocol.Gone.Exit())
}

func (a *actor) failsToRelease() {
	a.say(a.granted())
	a.letGo()
	a.say(protocol.Failure(protocol.WordLost, protocol.Unreleased, a.lock+": it could not be removed"))
	a.exit(protocol.Unreleased.Exit())
}

func (a *actor) tooSoon() {
	a.say(a.granted())
	a.released(protocol.Gone.Exit())
}

func (a *actor) diesHolding() {
	a.say(a.granted())
	a.dies()
}

func (a *actor) slow() {
	a.say(a.granted())
	status := a.letGo()
	time.Sleep(pause)
	a.say(protocol.Released(time.Second))
	time.Sleep(pause)
	a.exit(status)
}

func (a *actor) leavesChild() {
	a.say(a.granted())
	status := a.letGo()
	child := exec.Command("/proc/self/exe")
	if ours, err := os.Executable(); err == nil {
		child.Path = ours
	}
	child.Env = append(os.Environ(), partVariable+"="+lingers)
	child.Stdout, child.Stderr = os.Stdout, nil
	_ = child.Start()
	a.released(status)
}

func (a *actor) waits() {
	a.letGo()
	a.exit(protocol.Cancelled.Exit())
}

// looksAtParent notes which descriptors of the parent are ends of our pipes that are not
// close-on-exec, and then which programs it starts, and which of those have such an end: some
// runtimes, as Java's, close in a child what it would inherit. Descriptors 0 to 2 of the parent
// do not count, for a shell has a copy of the pipe there while it executes read <&3. Without /proc
// it sees nothing.
func (a *actor) looksAtParent() {
	time.Sleep(pause) // by then the parent reads
	for fd, info := range pipesOf(a.parent) {
		if fd > 2 && !closeOnExec(info) {
			a.note("inheritable %d", fd)
		}
	}
	a.say(a.granted())
	for since := map[string]time.Time{}; a.wanted.Err() == nil; time.Sleep(tick) {
		a.noteLeaks(since)
	}
	for _, program := range a.started() { // they had no end, or there were no hang-up
		a.note("child %s", program)
	}
	a.released(a.letGo())
}

// noteLeaks notes the programs that have had an end of our pipes for a while, not only until they
// have closed it.
func (a *actor) noteLeaks(since map[string]time.Time) {
	for pid, program := range a.started() {
		for fd := range pipesOf(pid) {
			leak := fmt.Sprintf("leak %d of %s", fd, program)
			if begun, seen := since[leak]; !seen {
				since[leak] = time.Now()
			} else if time.Since(begun) > pause {
				a.note("%s", leak)
			}
		}
	}
}

// started returns the children of the parent, but for us, that have become other programs.
func (a *actor) started() map[int]string {
	programs := map[int]string{}
	theirs, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", a.parent))
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", a.parent))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for word := range strings.FieldsSeq(string(text)) {
			pid, _ := strconv.Atoi(word)
			if program, err := os.Readlink("/proc/" + word + "/exe"); err == nil && program != theirs && pid != os.Getpid() {
				programs[pid] = program
			}
		}
	}
	return programs
}

// pipesOf returns the descriptors of a process that are ends of our pipes, and what fdinfo says of
// each.
func pipesOf(pid int) map[int]string {
	found := map[int]string{}
	dir := fmt.Sprintf("/proc/%d/", pid)
	for _, ours := range []string{"/proc/self/fd/0", "/proc/self/fd/1"} {
		pipe, err := os.Readlink(ours)
		if err != nil || !strings.HasPrefix(pipe, "pipe:") {
			continue
		}
		files, _ := os.ReadDir(dir + "fd")
		for _, f := range files {
			target, err := os.Readlink(dir + "fd/" + f.Name())
			info, errInfo := os.ReadFile(dir + "fdinfo/" + f.Name())
			if fd, errFD := strconv.Atoi(f.Name()); err == nil && errInfo == nil && errFD == nil && target == pipe {
				found[fd] = string(info)
			}
		}
	}
	return found
}

// closeOnExec reads the flags of a descriptor, which are octal.
func closeOnExec(info string) bool {
	_, rest, _ := strings.Cut(info, "flags:")
	field, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	flags, err := strconv.ParseUint(strings.TrimSpace(field), 8, 64)
	return err == nil && flags&syscall.O_CLOEXEC != 0
}
