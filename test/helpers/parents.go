//go:build unix

package helpers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"locksmith/test/lab"
)

// A parent is the program that is checked.
type parent struct {
	command       []string
	within, grace time.Duration
}

// A part is what the helper does that this program plays, and what its parent has to make of it.
type part struct {
	name, rule string
	play       func(*actor)
	expects    func(*stage)
}

func (p part) told() (name, rule string) { return p.name, p.rule }

// The sentences of the page that several parts cite.
const (
	readsOneLine = "Read one line. `OK …`: the lock is held. Anything else, or the end: it is not"
	statusZero   = "Status 0: it was held to the end"
	untilGone    = "Wait for the helper's exit; then the lock is gone."
	ignores      = "a parent ignores words and keys that it does not know"
)

// parts are played one after the other.
var parts = []part{
	{"release", "Close the pipe (standard input, if that is one too).", (*actor).holds, works},
	{"arguments", "A helper is started with `hold [FLAG…] -- LOCK`.", (*actor).holds, startsHold},
	{"silence", readsOneLine, (*actor).late, worksAfterOK},
	{"held", readsOneLine, (*actor).refuses, refused},
	{"no line", readsOneLine, func(a *actor) { a.exit(70) }, refused},
	{"killed before its line", readsOneLine, (*actor).dies, refused},
	{"half a line", readsOneLine, (*actor).halting, worksAfterOK},
	{"no more than half a line", readsOneLine, (*actor).cutOff, worried},
	{"longest line", "A line is at most 4096 bytes long", (*actor).longWinded, works},
	{"two lines in one write", ignores, (*actor).talkative, works},
	{"additions", ignores, (*actor).newKeys, works},
	{"newer protocol", "If it reads more of `OK` than the word, it looks at `proto` first", (*actor).newer, noticesNewer},
	{"full standard error", "Messages for people go to standard error.", (*actor).noisy, works},
	{"lost at once", statusZero, (*actor).loses, worried},
	{"lost in the release", statusZero, (*actor).failsToRelease, worried},
	{"released too soon", statusZero, (*actor).tooSoon, worried},
	{"killed", "An exit after `OK` without `RELEASED` is a loss, too", (*actor).diesHolding, worried},
	{"slow release", untilGone, (*actor).slow, waitsForExit},
	{"somebody has its output", "Do not wait for the end of the output", (*actor).leavesChild, asNote(waitsForExit)},
	{"its end while it waits", "with a pipe on its standard output, directly or through `exec`", (*actor).waits, diesWaiting},
	{"children", "What the parent starts later must not have the pipe", (*actor).looksAtParent, keepsPipe},
}

// A stage is one part, played before a parent.
type stage struct {
	*trial
	process *lab.Process
	dir     string // with the helper, what it notes, and what the parent says
	lock    string
}

// partVariable tells a helper of ours which part it plays, and dirVariable where it notes what
// it did.
const partVariable, dirVariable = "LOCKSMITH_CHECK_PART", "LOCKSMITH_CHECK_DIR"

// notes and said are files of that directory. The helper ends when they are gone.
const notes, said = "notes", "said"

// try plays a part before the parent.
func (p parent) try(of part) outcome {
	s := &stage{trial: &trial{helper: helper{within: p.within, grace: p.grace}}}
	return s.settle(func() {
		s.setUp()
		cmd := exec.Command(p.command[0], append(p.command[1:len(p.command):len(p.command)], s.lock)...)
		cmd.Env = append(os.Environ(), "PATH="+s.dir+string(os.PathListSeparator)+os.Getenv("PATH"),
			"LOCKSMITH="+filepath.Join(s.dir, "locksmith"), partVariable+"="+of.name, dirVariable+"="+s.dir, "TMPDIR="+s.dir)
		cmd.Stdin = lab.Null(s.trial)
		out, err := os.Create(filepath.Join(s.dir, said))
		s.must(err)
		s.Cleanup(func() { _ = out.Close() })
		cmd.Stdout = out
		s.process = lab.Start(s.trial, cmd)
		of.expects(s)
	})
}

// setUp makes the directory, in which this program is called locksmith.
func (s *stage) setUp() {
	dir, err := os.MkdirTemp("", "locksmith-check-")
	s.must(err)
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	ours, err := os.Executable()
	s.must(err)
	s.must(os.Symlink(ours, filepath.Join(dir, "locksmith")))
	s.must(os.WriteFile(filepath.Join(dir, notes), nil, 0o600))
	s.dir, s.lock = dir, "local:"+filepath.Join(dir, "lock")
}

// has reports whether a file of the directory has a line that begins so, and returns the rest of
// it.
func (s *stage) has(file, begin string) (rest string, has bool) {
	text, err := os.ReadFile(filepath.Join(s.dir, file))
	s.must(err)
	for line := range strings.Lines(string(text)) {
		if rest, has := strings.CutPrefix(strings.TrimSuffix(line, "\n"), begin); has {
			return rest, true
		}
	}
	return "", false
}

// noted waits for a note of the helper.
func (s *stage) noted(what string) {
	for begun := time.Now(); time.Since(begun) < s.within; time.Sleep(s.grace / 20) {
		if _, has := s.has(notes, what); has {
			return
		}
	}
	if what == "start" {
		s.broken("it does not start $LOCKSMITH, or locksmith on its PATH, within %v%s", s.within, s.stderr())
	}
	s.broken("its helper never comes to %q, which it would within %v", what, s.within)
}

func (s *stage) stderr() string {
	if text := s.process.Stderr(); text != "" {
		return fmt.Sprintf("; standard error: %.300q", text)
	}
	return ""
}

// ends waits for the parent's end and returns its exit status, and whether it worked.
func (s *stage) ends() (status int, worked bool) {
	select {
	case <-s.process.Ended():
	case <-time.After(s.within):
		s.broken("it does not end within %v%s", s.within, s.stderr())
	}
	if _, started := s.has(notes, "start"); !started {
		s.broken("it does not start $LOCKSMITH, or locksmith on its PATH%s", s.stderr())
	}
	_, worked = s.has(said, "working")
	return s.process.Status(), worked
}

func works(s *stage) {
	status, worked := s.ends()
	if !worked {
		s.broken("it has the lock and does not say \"working\"%s", s.stderr())
	}
	if status != 0 {
		s.broken("it had the lock to the end and exits with %d%s", status, s.stderr())
	}
	s.noted("let go")
}

func startsHold(s *stage) {
	works(s)
	args, _ := s.has(notes, "start ")
	if !strings.HasPrefix(args, `["hold" `) || !strings.HasSuffix(args, strconv.Quote(s.lock)+"]") {
		s.broken("it starts its helper with %s", args)
	}
}

func worksAfterOK(s *stage) {
	works(s)
	if _, early := s.has(notes, "early"); early {
		s.broken("it says \"working\" before the whole of OK has come")
	}
}

func refused(s *stage) {
	status, worked := s.ends()
	if worked {
		s.broken("it works without the lock")
	}
	if status == 0 {
		s.broken("it did not have the lock and exits with 0")
	}
}

func worried(s *stage) {
	if status, _ := s.ends(); status == 0 {
		s.broken("it did not have the lock to the end and exits with 0")
	}
}

func noticesNewer(s *stage) {
	if status, worked := s.ends(); worked && status == 0 {
		s.unchecked("it reads the word of the line alone, as it may")
	}
	refused(s)
}

func waitsForExit(s *stage) {
	_, _ = s.ends()
	if _, has := s.has(notes, "exit"); !has {
		s.broken("it ends before its helper does")
	}
	works(s)
}

// asNote makes a note of what is broken: it needs a helper that breaks a rule, too.
func asNote(expects func(*stage)) func(*stage) {
	return func(s *stage) {
		defer func() {
			r := recover()
			if o, is := r.(outcome); is && o.word == "broken" {
				r = outcome{"note", o.seen}
			}
			if r != nil {
				panic(r)
			}
		}()
		expects(s)
	}
}

func diesWaiting(s *stage) {
	s.noted("start")
	time.Sleep(s.grace)
	s.process.Kill()
	s.noted("let go")
}

func keepsPipe(s *stage) {
	works(s)
	if _, signalled := s.has(notes, "let go: signal"); signalled {
		return
	}
	if leak, leaks := s.has(notes, "leak "); leaks {
		s.broken("an end of a helper's pipe is descriptor %s, which it started, and it does not end the helper with SIGTERM: a program that it starts keeps the lock", leak)
	}
	fd, open := s.has(notes, "inheritable ")
	if _, started := s.has(notes, "child "); open && !started {
		s.unchecked("its descriptor " + fd + ", an end of a helper's pipe, is not close-on-exec; let it start a program, such as sleep 1, after \"working\", to see whether that gets it")
	}
}
