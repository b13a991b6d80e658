//go:build unix

package s3lab

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/s3server"
)

// TestWalkThrough types in two terminals what the guide says, to the letter except for the port
// and the directory, and checks that they show what the guide shows.
func TestWalkThrough(t *testing.T) {
	lab.NotShort(t, "starts an object store")
	t.Parallel()
	port := strconv.Itoa(lab.ReservePort(t))
	store := filepath.Join(t.TempDir(), "store")
	own := strings.NewReplacer("7070", port, "/tmp/store", store)
	w := walk{t, newTerminal(t), newTerminal(t)}
	for line := range strings.Lines(own.Replace(lab.BlockOfGuide(t, "$ mkdir -p /tmp/store/locks"))) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		if strings.HasPrefix(command, "export ") || strings.HasPrefix(command, "LOCK=") {
			w.two.types(command)
		}
		if isCommand {
			line = "one" + line
		}
		w.step(line)
		if strings.HasPrefix(command, "versitygw ") {
			w.await("127.0.0.1:" + port)
		}
	}
	for line := range strings.Lines(own.Replace(lab.BlockOfGuide(t, "one$ "))) {
		w.step(line)
	}
}

// A walk types commands in two terminals and reads them.
type walk struct {
	t        *testing.T
	one, two *terminal
}

// step does one line of the guide: it types a command, or waits for a line of output.
func (w *walk) step(line string) {
	w.t.Helper()
	line = strings.TrimSuffix(line, "\n")
	if command, ok := strings.CutPrefix(line, "one$ "); ok {
		w.one.types(command + "\n")
	} else if command, ok := strings.CutPrefix(line, "two$ "); ok {
		w.two.types(command + "\n")
	} else if line == "one: Enter" {
		w.one.types("\n")
	} else {
		w.hears(line)
	}
}

// hears waits until either terminal says the line. An ellipsis in it stands for anything. A line
// of an ellipsis alone stands for any lines before the next one.
func (w *walk) hears(line string) {
	w.t.Helper()
	if line == "…" {
		w.one.skips = true
		return
	}
	pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "$")
	lab.Eventually(w.t, line, func() bool { return w.one.says(pattern) || w.two.says(pattern) },
		func() string { return strings.Join(append(w.one.lines, w.two.lines...), "\n") })
}

// await waits until somebody listens.
func (w *walk) await(address string) {
	w.t.Helper()
	lab.Eventually(w.t, "versitygw listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// A terminal is a shell with a home of its own.
type terminal struct {
	*lab.Process
	lines []string // output that hears has not matched yet
	skips bool     // what does not match
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	home, bin := t.TempDir(), t.TempDir()
	if err := os.Symlink(s3server.Program(t, fit), filepath.Join(bin, "versitygw")); err != nil {
		t.Fatal(err)
	}
	lab.Program(t, "cmd/locksmith-remote") // beside the other
	cmd := exec.Command("sh")
	cmd.Env = append(s3server.Foreign(), "HOME="+home, "XDG_CONFIG_HOME="+home,
		"PATH="+bin+":"+filepath.Dir(lab.Program(t, "cmd/locksmith"))+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	term := &terminal{Process: lab.Start(t, cmd)}
	t.Cleanup(func() { _ = syscall.Kill(-term.PID(), syscall.SIGKILL) }) // and the store, if it is the one
	term.types("exec 2>&1\n")
	return term
}

func (s *terminal) types(text string) { _, _ = s.Stdin.WriteString(text) }

// says reports whether the next line matches, and if so takes it.
func (s *terminal) says(line *regexp.Regexp) bool {
	for s.Pending() > 0 {
		s.lines = append(s.lines, s.Line())
	}
	for len(s.lines) > 0 {
		first := s.lines[0]
		if !line.MatchString(first) && !s.skips {
			return false
		}
		s.lines = s.lines[1:]
		if line.MatchString(first) {
			s.skips = false
			return true
		}
	}
	return false
}
