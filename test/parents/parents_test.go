package parents

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/process"
	"locksmith/test/lab"
	"locksmith/test/programs"
)

const (
	// bound is how long a release may take on a slow machine.
	bound = 20 * time.Second
	// startBound is how long a parent may take to say or do anything: many
	// interpreters start at once.
	startBound = time.Minute
	// grace is how long we look for what must not happen.
	grace = 300 * time.Millisecond
)

// tools is the directory of the helper and of what the languages build.
var tools string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if testing.Short() { // all tests start programs
		return 0
	}
	helper := programs.Static("locksmith/cmd/locksmith")
	defer helper.Remove()
	var err error
	if tools, err = helper.Build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// A language is one that parents are written in.
type language struct {
	name    string
	program string // the interpreter or compiler
	suffix  string
	// compile makes something to execute of a source; nil: the program runs it.
	compile func(source string) (string, error)
	// threads says why there are none to test, or ""; nil: there are.
	threads func() string
	// held and usage are what it dies with when the lock is held, and when it asks for
	// nonsense; "": the helper's line.
	held, usage string
}

// all are the languages as they come, and with the clients that we offer.
func all() []language { return slices.Concat(languages, clients) }

var languages = []language{
	{name: "sh", program: "sh", suffix: ".sh", threads: func() string { return "no threads in sh" }},
	{name: "perl", program: "perl", suffix: ".pl", threads: perlThreads},
	{name: "python", program: "python3", suffix: ".py"},
	{name: "tcl", program: "tclsh", suffix: ".tcl", threads: func() string { return "no threads in plain tclsh" }},
	{name: "node", program: "node", suffix: ".js"},
	{name: "c", program: "cc", suffix: ".c", compile: compileC},
}

func perlThreads() string {
	if err := exec.Command("perl", "-Mthreads", "-e", "1").Run(); err != nil {
		return "this perl has no ithreads"
	}
	return ""
}

var compiling sync.Mutex

// compileC compiles a program once.
func compileC(source string) (string, error) {
	compiling.Lock()
	defer compiling.Unlock()
	binary := filepath.Join(tools, strings.TrimSuffix(filepath.Base(source), ".c")+".bin")
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	out, err := exec.Command("cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", binary, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("compile %s: %w\n%s", source, err, out)
	}
	return binary, nil
}

// require skips the test when the language is missing.
func (l language) require(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath(l.program); err == nil {
		return
	}
	lab.Lacking(t, l.program+" is missing")
}

// command returns the command that runs the language's program of that name.
func (l language) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	source := filepath.Join("testdata", l.name, name+l.suffix)
	if l.compile == nil {
		return exec.Command(l.program, append([]string{source}, args...)...)
	}
	binary, err := l.compile(source)
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(binary, args...)
}

// A fixture is a lock and what parents need to fight for it.
type fixture struct {
	*testing.T
	language language
	bin      string // the directory of the program locksmith
	scheme   string // of the lock's address
	path     string // of the lock file
	goFile   string // which lets the parents go on
}

func newFixture(t *testing.T, l language) *fixture {
	t.Helper()
	l.require(t)
	dir := t.TempDir()
	return &fixture{T: t, language: l, bin: tools, scheme: "local:",
		path: filepath.Join(dir, "lock"), goFile: filepath.Join(dir, "go")}
}

func (f *fixture) address() string { return f.scheme + f.path }

func (f *fixture) locked() bool {
	_, err := os.Stat(f.path)
	return err == nil
}

func (f *fixture) mustBeLocked(when string) {
	f.Helper()
	if !f.locked() {
		f.Fatalf("the lock file does not exist %s", when)
	}
}

func (f *fixture) mustBeFree(when string) {
	f.Helper()
	if f.locked() {
		f.Fatalf("the lock file exists %s", when)
	}
}

func (f *fixture) goOn() {
	f.Helper()
	if err := os.WriteFile(f.goFile, nil, 0o600); err != nil {
		f.Fatal(err)
	}
}

// eventually polls until something is so.
func (f *fixture) eventually(what string, so func() bool) {
	f.Helper()
	for end := time.Now().Add(bound); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("not within %v: %s", bound, what)
		}
	}
}

// process finds a running process and makes sure that it ends with the test.
func (f *fixture) process(pid int) process.Process {
	f.Helper()
	handle, err := os.FindProcess(pid) // a pidfd: it never names another
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = handle.Kill()
		_ = handle.Release()
	})
	p, err := process.Find(pid)
	if err != nil {
		f.Fatal(err)
	}
	return p
}

// helper returns the process that holds the lock.
func (f *fixture) helper() process.Process {
	f.Helper()
	content, err := os.ReadFile(f.path)
	if err != nil {
		f.Fatal(err)
	}
	first, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		f.Fatalf("the lock file does not begin with a pid: %q", content)
	}
	return f.process(pid)
}

// A parent is a process that the test started.
type parent struct {
	*fixture
	cmd    *exec.Cmd
	lines  chan string
	errors string        // the file of its standard error
	exited chan struct{} // closed after cmd.Wait
}

// parent starts the language's parent program.
func (f *fixture) parent(scenario string, stdin *os.File) *parent {
	f.Helper()
	return f.start(f.language.command(f.T, "parent", scenario, f.address(), f.goFile), stdin)
}

// start starts a command. Its outputs are files of its own, not copied by
// cmd.Wait, which would wait for all who inherited them.
func (f *fixture) start(cmd *exec.Cmd, stdin *os.File) *parent {
	f.Helper()
	output, err := os.CreateTemp(f.TempDir(), "stderr")
	if err != nil {
		f.Fatal(err)
	}
	defer output.Close()
	r, w, err := os.Pipe()
	if err != nil {
		f.Fatal(err)
	}
	defer w.Close()
	cmd.Stdout, cmd.Stderr = w, output
	cmd.Env = append(os.Environ(), "PATH="+f.bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PYTHONPATH="+"../../client/python", "PYTHONDONTWRITEBYTECODE=1",
		"TMPDIR="+filepath.Dir(f.path)) // for FIFOs
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	p := &parent{fixture: f, cmd: cmd, lines: make(chan string), errors: output.Name(), exited: make(chan struct{})}
	go p.wait()
	ctx, stop := context.WithCancel(context.Background())
	go p.read(ctx, r)
	f.Cleanup(func() {
		p.kill()
		stop()
		_ = r.Close()
	})
	return p
}

func (p *parent) wait() {
	_ = p.cmd.Wait() // its ProcessState tells
	close(p.exited)
}

func (p *parent) read(ctx context.Context, r *os.File) {
	defer close(p.lines)
	for s := bufio.NewScanner(r); s.Scan(); {
		select {
		case p.lines <- s.Text():
		case <-ctx.Done():
			return
		}
	}
}

// line returns the next line that the parent says.
func (p *parent) line() string {
	p.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.Fatalf("the parent says no more\n%s", p.complaints())
		}
		return line
	case <-time.After(startBound):
		p.Fatalf("the parent says nothing for %v\n%s", startBound, p.complaints())
	}
	return ""
}

func (p *parent) expect(want string) {
	p.Helper()
	if got := p.line(); got != want {
		p.Fatalf("the parent says %q, not %q\n%s", got, want, p.complaints())
	}
}

// working waits for the lock and returns the helper.
func (p *parent) working() process.Process {
	p.Helper()
	p.expect("working")
	p.mustBeLocked("while the parent works")
	return p.helper()
}

// finish lets the parent release the lock, which it must see to itself.
func (p *parent) finish() {
	p.Helper()
	p.goOn()
	p.expect("released")
	p.mustBeFree("after the parent waited for the helper")
	p.mustSucceed()
}

// status waits for the parent's exit.
func (p *parent) status() int {
	p.Helper()
	select {
	case <-p.exited:
	case <-time.After(startBound):
		p.Fatalf("the parent runs on for %v\n%s", startBound, p.complaints())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *parent) mustSucceed() {
	p.Helper()
	if status := p.status(); status != 0 {
		p.Fatalf("the parent exits %d\n%s", status, p.complaints())
	}
	p.mustBeFree("after the parent's exit")
}

// mustFail expects the parent to die with the helper's line.
func (p *parent) mustFail(text string) {
	p.Helper()
	if p.status() == 0 || !strings.Contains(p.complaints(), text) {
		p.Fatalf("the parent exits %d without %q\n%s", p.status(), text, p.complaints())
	}
}

func (p *parent) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

func (p *parent) complaints() string {
	text, err := os.ReadFile(p.errors)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// mustBeReleased waits for the release by a helper that nobody waits for.
func (f *fixture) mustBeReleased(helper process.Process) {
	f.Helper()
	f.eventually("the lock file is gone", func() bool { return !f.locked() })
	f.eventually("the helper has exited", helper.Gone)
}

var scenarios = []struct {
	name string
	test func(*fixture)
}{
	{"release", testRelease},
	{"killed", testKilled},
	{"killed_leaving_child", testKilledLeavingChild},
	{"data_on_stdin", testData},
	{"ended_data_on_stdin", testEndedData},
	{"thread", testThread},
}

func TestParents(t *testing.T) {
	for _, l := range all() {
		t.Run(l.name, func(t *testing.T) {
			for _, s := range scenarios {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					s.test(newFixture(t, l))
				})
			}
		})
	}
}

func testRelease(f *fixture) {
	p := f.parent("hold", nil)
	helper := p.working()
	f.parent("try", nil).mustFail(cmp.Or(f.language.held, "ERR code=held "))
	f.mustBeLocked("after another parent failed to get it")
	p.finish()
	f.mustBeReleased(helper)
}

func testKilled(f *fixture) {
	p := f.parent("hold", nil)
	helper := p.working()
	p.kill()
	f.mustBeReleased(helper)
}

// testKilledLeavingChild: the pipes tell nothing when another process has the
// parent's ends of them, but the parent's death does.
func testKilledLeavingChild(f *fixture) {
	p := f.parent("fork", nil)
	pid, err := strconv.Atoi(strings.TrimPrefix(p.line(), "child "))
	if err != nil {
		f.Fatalf("no child's pid: %v\n%s", err, p.complaints())
	}
	child := f.process(pid)
	helper := p.working()
	if !sharesPipe(f, child, helper) {
		f.Fatal("the child did not inherit the helper's pipe")
	}
	p.kill()
	f.mustBeReleased(helper)
	if child.Gone() {
		f.Fatal("the child ended, so this proves nothing")
	}
}

// sharesPipe reports whether the child has an end of the helper's standard
// output. The two ends of a socket have different names; any socket will do.
func sharesPipe(f *fixture, child, helper process.Process) bool {
	f.Helper()
	pipe, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/1", helper.PID))
	if err != nil {
		f.Fatal(err)
	}
	if strings.HasPrefix(pipe, "socket:") {
		pipe = "socket:"
	}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", child.PID))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		if target, err := os.Readlink(file); err == nil && strings.HasPrefix(target, pipe) {
			return true
		}
	}
	return false
}

// testData: standard input is the parent's alone. There is more of it than a
// pipe holds, so that it ends while the parent reads.
func testData(f *fixture) {
	data, _ := feed(f, 8000)
	readData(f, data, 8000)
}

// testEndedData: there is no more to come when the helper starts.
func testEndedData(f *fixture) {
	data, written := feed(f, 3)
	<-written
	readData(f, data, 3)
}

func readData(f *fixture, data *os.File, lines int) {
	f.Helper()
	p := f.parent("data", data)
	helper := p.working()
	for i := range lines {
		p.expect("data " + datum(i))
	}
	p.expect("eof")
	f.mustBeLocked("after the end of the parent's data")
	time.Sleep(grace)
	f.mustBeLocked("a while after the end of the parent's data")
	p.finish()
	f.mustBeReleased(helper)
}

func datum(i int) string { return fmt.Sprintf("this is line %d", i) }

// feed writes lines to a pipe as fast as somebody reads, and closes it; then
// the channel is closed.
func feed(f *fixture, lines int) (*os.File, <-chan struct{}) {
	f.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		f.Fatal(err)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		defer w.Close()
		for i := range lines {
			if _, err := fmt.Fprintln(w, datum(i)); err != nil {
				return // the test is over and closed it
			}
		}
	}()
	f.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, written
}

func testThread(f *fixture) {
	if f.language.threads != nil {
		if reason := f.language.threads(); reason != "" {
			f.Skip(reason)
		}
	}
	p := f.parent("thread", nil)
	helper := p.working()
	time.Sleep(grace)
	f.mustBeLocked("a while after the thread's end")
	p.finish()
	f.mustBeReleased(helper)
}

// TestExamples runs what the README shows.
func TestExamples(t *testing.T) {
	for _, l := range all() {
		t.Run(l.name+"/works", func(t *testing.T) {
			t.Parallel()
			testExample(newFixture(t, l))
		})
		t.Run(l.name+"/refused", func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, l)
			f.start(l.command(t, "example", "local:not/absolute"), nil).mustFail(cmp.Or(l.usage, "ERR code=usage "))
		})
	}
}

// testExample: an example waits for its turn, works, and leaves nothing.
func testExample(f *fixture) {
	other := f.start(exec.Command(filepath.Join(f.bin, "locksmith"), "hold", f.address()), nil)
	if line := other.line(); !strings.HasPrefix(line, "OK ") {
		f.Fatal(line)
	}
	p := f.start(f.language.command(f.T, "example", f.address()), nil)
	select {
	case line := <-p.lines:
		f.Fatalf("the example says %q without the lock\n%s", line, p.complaints())
	case <-time.After(grace):
	}
	if err := other.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		f.Fatal(err)
	}
	p.expect("working")
	p.mustSucceed()
}

// TestFlood writes to a helper without end, which never reads: the pipe stays
// full, and only its end tells.
func TestFlood(t *testing.T) {
	f := newFixture(t, language{name: "python", program: "python3", suffix: ".py"})
	p := f.start(f.language.command(t, "flood", f.address(), f.goFile), nil)
	var full, unread, written int
	if _, err := fmt.Sscanf(p.line(), "full %d", &full); err != nil || full == 0 {
		t.Fatalf("wrote %d bytes: %v\n%s", full, err, p.complaints())
	}
	f.mustBeLocked("when the pipe is full")
	helper := f.helper()
	time.Sleep(grace)
	f.mustBeLocked("a while after the pipe was full")
	f.goOn()
	if _, err := fmt.Sscanf(p.line(), "unread %d of %d", &unread, &written); err != nil {
		t.Fatalf("%v\n%s", err, p.complaints())
	}
	if unread != written || written != full {
		t.Fatalf("of %d bytes written, %d at first, %d are unread", written, full, unread)
	}
	p.expect("released")
	p.mustSucceed()
	f.mustBeReleased(helper)
}
