//go:build unix

package parents

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/process"
	"locksmith/test/lab"
)

// grace is how long we look for what must not happen.
const grace = 300 * time.Millisecond

func TestMain(m *testing.M) {
	lab.Parallel(8) // parents and helpers wait most of the time
	lab.Main(m, nil)
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
	t.Parallel()
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
	p.Kill()
	f.mustBeReleased(helper)
}

// testKilledLeavingChild: when another process has the parent's ends of the pipes, they tell
// nothing, but the parent's death does.
func testKilledLeavingChild(f *fixture) {
	p := f.parent("fork", nil)
	pid, err := strconv.Atoi(strings.TrimPrefix(p.Line(), "child "))
	if err != nil {
		f.Fatalf("no child's pid: %v\n%s", err, p.Stderr())
	}
	child := f.process(pid)
	helper := p.working()
	if !sharesPipe(f, child, helper) {
		f.Fatal("the child did not inherit the helper's pipe")
	}
	p.Kill()
	f.mustBeReleased(helper)
	if child.Gone() {
		f.Fatal("the child ended, so this proves nothing")
	}
}

// sharesPipe reports whether the child has an end of the helper's standard output. The two ends
// of a socket have different names, so any socket counts.
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

// testData: standard input is the parent's alone. It has more data than a pipe holds, so that it
// ends while the parent reads.
func testData(f *fixture) {
	data, _ := feed(f, 8000)
	readData(f, data, 8000)
}

// testEndedData: the data has ended when the helper starts.
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

// feed writes lines to a pipe as fast as somebody reads, and closes it. Then the channel is
// closed.
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
				return // the test is over and has closed it
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

// TestExamples runs the examples that the README shows.
func TestExamples(t *testing.T) {
	t.Parallel()
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
	other.Expect("OK ")
	p := f.start(f.language.command(f.T, "example", f.address()), nil)
	f.eventually("it waits for its turn", func() bool {
		seen, err := exec.Command(filepath.Join(f.bin, "locksmith"), "status", "--json", f.address()).Output()
		return err == nil && strings.Contains(string(seen), `"waiters_at_least": 1`)
	})
	p.Silent(time.Millisecond) // it has no lock yet
	other.Signal(syscall.SIGTERM)
	p.Expect("working")
	p.mustSucceed()
}

// TestFlood writes without end to a helper, which never reads: the pipe stays full, and only its
// end tells.
func TestFlood(t *testing.T) {
	t.Parallel()
	f := newFixture(t, language{name: "python", program: "python3", suffix: ".py"})
	p := f.start(f.language.command(t, "flood", f.address(), f.goFile), nil)
	var full, unread, written int
	if _, err := fmt.Sscanf(p.Line(), "full %d", &full); err != nil || full == 0 {
		t.Fatalf("wrote %d bytes: %v\n%s", full, err, p.Stderr())
	}
	f.mustBeLocked("when the pipe is full")
	helper := f.helper()
	time.Sleep(grace)
	f.mustBeLocked("a while after the pipe was full")
	f.goOn()
	if _, err := fmt.Sscanf(p.Line(), "unread %d of %d", &unread, &written); err != nil {
		t.Fatalf("%v\n%s", err, p.Stderr())
	}
	if unread != written || written != full {
		t.Fatalf("of %d bytes written, %d at first, %d are unread", written, full, unread)
	}
	p.expect("released")
	p.mustSucceed()
	f.mustBeReleased(helper)
}
