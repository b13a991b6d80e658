//go:build unix

package helpers

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"locksmith/test/lab"
)

func TestMain(m *testing.M) {
	if name, is := os.LookupEnv(partVariable); is {
		os.Exit(play(name, os.Args))
	}
	lab.Parallel(8) // they wait most of the time
	lab.Main(m, map[string]func() int{"asked": asked})
}

// beyond are the checks that no helper can be put to.
var beyond = []string{"other losses", "other codes", "clock", "descriptors", "thread", "sets, metadata, events"}

// conforms runs all checks, each with a lock of its own. kind may have options. unchecked names
// the checks that do not apply to this helper.
func conforms(t *testing.T, kind string, unchecked []string, command ...string) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := newHelper(t, kind, command...).try(c)
			expected := "ok"
			flag, _, _ := strings.Cut(c.name, ":") // of which there are several checks
			if slices.Contains(unchecked, flag) || slices.Contains(beyond, c.name) {
				expected = "not checked"
			}
			if o.word != expected {
				t.Errorf("the check %s of this helper ends with %q, want %q; it saw: %s", c.name, o.word, expected, o.seen)
			}
		})
	}
}

func newHelper(t *testing.T, kind string, command ...string) helper {
	t.Helper()
	scheme, options, any := strings.Cut(kind, "?")
	lock := scheme + filepath.Join(t.TempDir(), "lock")
	if any {
		lock += "?" + options
	}
	return helper{command: command, lock: lock, within: lab.Patience, grace: 300 * time.Millisecond, soon: 20 * time.Second}
}

func TestOurs(t *testing.T) {
	lab.NotShort(t, "waits for leases")
	t.Parallel()
	conforms(t, "nfs:", nil, lab.Program(t, "cmd/locksmith"))
}

// TestKept: a helper whose lock nobody takes while it lives keeps the lock through a stop.
func TestKept(t *testing.T) {
	lab.NotShort(t, "waits for leases")
	t.Parallel()
	for _, c := range checks {
		if c.name != "stopped" {
			continue
		}
		h := newHelper(t, "local:", lab.Program(t, "cmd/locksmith"))
		if h.kept = true; h.try(c).word != "ok" {
			t.Errorf("a helper that goes on after a stop, with -kept: %+v, want ok", h.try(c))
		}
		if h.kept, h.within = false, 2*time.Second; h.try(c).word != "broken" {
			t.Error("a helper that goes on after a stop is not called broken without -kept")
		}
	}
}

// second is a helper in Python, which was written from the page.
const second = "../parents/testdata/second/locksmith"

func TestPython(t *testing.T) {
	lab.NotShort(t, "waits for leases")
	t.Parallel()
	lab.NeedProgram(t, "python3")
	conforms(t, "demo:", []string{"timeout", "--shared", "stopped", "--ask", "--again"}, "python3", second)
}

// TestOtherProgram: locksmith that becomes the helper in Python keeps the same promises. That
// helper has the parent, pipes and signals with which locksmith was started.
func TestOtherProgram(t *testing.T) {
	lab.NotShort(t, "waits for leases")
	t.Parallel()
	lab.NeedProgram(t, "python3")
	text, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "locksmith-demo"), text, 0o755); err != nil {
		t.Fatal(err)
	}
	conforms(t, "demo:", []string{"timeout", "--shared", "stopped", "--ask", "--again"}, "env", "PATH="+bin+":"+os.Getenv("PATH"), lab.Program(t, "cmd/locksmith"))
}

// TestRemote: so does locksmith that becomes locksmith-remote, with a store in this process.
func TestRemote(t *testing.T) {
	lab.NotShort(t, "waits for leases")
	t.Parallel()
	memory := s3mem.New()
	if err := memory.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gofakes3.New(memory).Server())
	t.Cleanup(s.Close)
	bin := filepath.Dir(lab.Program(t, "cmd/locksmith-remote"))
	conforms(t, "s3://bucket?endpoint="+s.URL+"&path=style", []string{"--shared", "--again"},
		"env", "PATH="+bin+":"+os.Getenv("PATH"), "AWS_ACCESS_KEY_ID=tester", "AWS_SECRET_ACCESS_KEY=secret",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, lab.Program(t, "cmd/locksmith"))
}

// mistakes are changes of the helper in Python, the check that finds each, and what it sees.
var mistakes = []struct{ old, new, check, sees string }{
	{"    wanted, pipes = watch(", "    print('waiting', flush=True)\n    wanted, pipes = watch(", "first line", "waiting"},
	{`if c.isprintable() else "?"`, ``, "odd address", "malformed line"},
	{"    os.unlink(path)", "    say('RELEASED', held_ms=0)\n    time.sleep(20)\n    os.unlink(path)", "release first", "ERR code=held"},
	{"poll.register(os.pidfd_open(parent), select.POLLIN)", "os.pidfd_open(parent)", "parent dies", "no RELEASED"},
	{`fail("held", 75`, `fail("held", 1`, "held", "not exit status 75"},
	{"too_soon.append(128 + n) if pipes else None", "None", "SIGTERM", "not exit status 143"},
	{"signal.SIG_IGN if pipes else lambda", "lambda", "signals of a terminal", "RELEASED"},
	{`fail("usage", 64, "whose`, `("usage", 64, "whose`, "whose data", "that it cannot see"},
	{"EVENTS = select.POLLRDHUP, 0", "EVENTS = select.POLLIN, 0", "reads nothing", "RELEASED"},
	{"EVENTS = select.POLLRDHUP, 0", "EVENTS = (select.POLLRDHUP,) * 2", "half a socket", "RELEASED"},
	{"too_soon.append(79)", "pass", "nobody reads", "not exit status 79"},
	{"if wanted.poll(50):", "if wanted.poll(50) and not wanted:", "waiter's input ends", "no ERR"},
	{"    os.unlink(path)", "    time.sleep(3)\n    os.unlink(path)", "in time", "more than 1s after the hang-up"},
	{`say("BEAT", sent_ms=0)`, `say("BEAT")`, "beats", "instead of a BEAT"},
}

func TestMistakes(t *testing.T) {
	lab.NotShort(t, "waits for what does not come")
	t.Parallel()
	lab.NeedProgram(t, "python3")
	text, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("LEASE = 60"), []byte("LEASE = 12"), 1) // beats soon
	for _, m := range mistakes {
		t.Run(m.check, func(t *testing.T) {
			t.Parallel()
			if n := bytes.Count(text, []byte(m.old)); n != 1 {
				t.Fatalf("the helper has %q %d times", m.old, n)
			}
			program := filepath.Join(t.TempDir(), "helper")
			if err := os.WriteFile(program, bytes.Replace(text, []byte(m.old), []byte(m.new), 1), 0o600); err != nil {
				t.Fatal(err)
			}
			h := newHelper(t, "demo:", "python3", program)
			if strings.HasPrefix(m.sees, "no ") {
				h.within = 25 * time.Second // it will be waited for in vain
			}
			if m.check == "in time" {
				h.soon = time.Second // as without a flag
			}
			mustFind(t, h, m.check, m.sees)
		})
	}
}

// TestWithin: no check needs more time than it is given.
func TestWithin(t *testing.T) {
	lab.NotShort(t, "waits")
	t.Parallel()
	i := slices.IndexFunc(checks, func(c check) bool { return c.name == "timeout" })
	h := newHelper(t, "local:", lab.Program(t, "cmd/locksmith"))
	h.within = 16 * time.Second
	if o := h.try(checks[i]); o.word != "ok" {
		t.Errorf("the check timeout of a helper that has 16s ends with %q, want \"ok\"; it saw: %s", o.word, o.seen)
	}
}

// naive is a helper by somebody who has only seen the two lines.
const naive = `
for lock; do :; done
echo "OK proto=1 id=$$ mode=exclusive waited_ms=0 lease_ms=60000 lock=$lock"
cat >/dev/null
echo RELEASED held_ms=0`

func TestNaive(t *testing.T) {
	t.Parallel()
	for check, sees := range map[string]string{
		"unknown flag":  "instead of ERR",
		"held":          "instead of ERR",
		"waits":         "while another has the lock",
		"reads nothing": `it left ""`,
		"SIGTERM":       "ends without RELEASED",
	} {
		t.Run(check, func(t *testing.T) {
			t.Parallel()
			mustFind(t, newHelper(t, "", "sh", "-c", naive, "naive"), check, sees)
		})
	}
}

// chances is how often a check may miss a mistake: a helper, or a parent, that a busy machine makes
// late is silent for as long as a right one.
const chances = 5

func mustFind(t *testing.T, h helper, name, sees string) {
	t.Helper()
	i := slices.IndexFunc(checks, func(c check) bool { return c.name == name })
	var o outcome
	for range chances {
		if o = h.try(checks[i]); o.word == "broken" && strings.Contains(o.seen, sees) {
			return
		}
		h.lock += "again" // what is left of the first stays, if the helper breaks nobody's lock
	}
	t.Errorf("the check says %s, %q; want broken, with %q", o.word, o.seen, sees)
}

// TestRules: the pages have the sentences that the checks cite.
func TestRules(t *testing.T) {
	var page string
	for _, file := range []string{"README.md", "HELPERS.md", "EXTRAS.md", "doc.go"} {
		text, err := os.ReadFile("../../protocol/" + file)
		if err != nil {
			t.Fatal(err)
		}
		page += strings.ReplaceAll(string(text), "\n//", "\n")
	}
	page = strings.Join(strings.Fields(page), " ")
	rules := map[string]string{}
	for _, c := range checks {
		rules[c.name] = c.rule
	}
	for _, p := range parts {
		rules["parents: "+p.name] = p.rule
	}
	for name, rule := range rules {
		if !strings.Contains(page, rule) {
			t.Errorf("the check %q cites a sentence that neither a page of protocol nor its doc.go has: %q", name, rule)
		}
	}
}
