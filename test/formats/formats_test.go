//go:build unix

package formats

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locksmith/test/etcdserver"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
	"locksmith/test/s3server"
)

var update = flag.Bool("update", false, "write what this version writes into testdata")

func TestMain(m *testing.M) {
	s3server.SetEnvironment()
	lab.Main(m, nil)
}

// A place is where a lock of some kind is.
type place struct {
	address string
	// tree returns what is there, one a line and quoted: d path, l path target, f path content.
	tree func() []string
	env  []string
}

// A kind is a kind of lock, and what there is of it beside a holder.
type kind struct {
	name           string
	at             func(*testing.T) place
	waits          bool // a waiter is seen
	shared, closed bool // there are shared holders; a success stays when the lock is free
}

var kinds = []kind{
	{name: "local", at: onDisk("local:%s/a"), closed: true},
	{name: "local-binary", at: onDisk("local:%s/a?pid=binary"), closed: true},
	{name: "flock", at: onDisk("flock:%s/a"), closed: true},
	{name: "nfs", at: onDisk("nfs:%s/a"), waits: true, shared: true, closed: true},
	{name: "mkdir", at: onDisk("mkdir:%s/a"), waits: true},
	{name: "mkdir-dir", at: onDisk("mkdir:%s/a?style=dir"), waits: true, shared: true, closed: true},
	{name: "link", at: onDisk("link:%s/a"), waits: true},
	{name: "ftp", at: onServer(""), waits: true},
	{name: "ftp-dir", at: onServer("?style=dir"), waits: true, shared: true, closed: true},
	{name: "s3", at: inStore, waits: true, closed: true},
	{name: "etcd", at: inEtcd, waits: true, shared: true, closed: true},
}

func onDisk(address string) func(*testing.T) place {
	return func(t *testing.T) place {
		dir := t.TempDir()
		return place{address: fmt.Sprintf(address, dir), tree: func() []string { return tree(t, dir) }}
	}
}

func onServer(options string) func(*testing.T) place {
	return func(t *testing.T) place {
		s := ftpserver.Start(t, "embedded", ftpserver.Options{})
		return place{fmt.Sprintf("ftp://%s@%s/a%s", s.User, s.Addr, options), func() []string { return tree(t, s.Dir) },
			[]string{"LOCKSMITH_PASSWORD=" + s.Password}}
	}
}

func inStore(t *testing.T) place {
	s := s3server.Start(t, s3server.Embedded)
	return place{address: s3server.Address(s.Endpoint, "a"), tree: func() (all []string) {
		for _, key := range s.Keys(t, "a/") {
			all = append(all, "f "+strconv.Quote(key))
		}
		return all
	}}
}

func inEtcd(t *testing.T) place {
	c := etcdserver.Start(t, etcdserver.Options{})
	return place{address: c.Address("a"), tree: func() (all []string) {
		for _, key := range c.Keys(t, "a/") {
			all = append(all, "f "+strconv.Quote(key))
		}
		return all
	}}
}

func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return nil // it is gone
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			all = append(all, "d "+strconv.Quote(name))
		case e.Type() == fs.ModeSymlink:
			target, _ := os.Readlink(path)
			all = append(all, fmt.Sprintf("l %q %q", name, target))
		default:
			content, _ := os.ReadFile(path)
			all = append(all, fmt.Sprintf("f %q %q", name, content))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (p place) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(lab.Program(t, "cmd/locksmith"), append(args, p.address)...)
	cmd.Env = append(os.Environ(), p.env...)
	return cmd
}

// capture has helpers hold, wait for and leave a lock, and returns what is there at each step.
func (k kind) capture(t *testing.T) map[string][]string {
	t.Helper()
	p, seen := k.at(t), map[string][]string{}
	holder := lab.Hold(t, p.command(t, "hold", "--meta", "job=nightly"))
	holder.Held()
	seen["held"] = p.tree()
	if k.waits {
		waiter := lab.Hold(t, p.command(t, "hold"))
		steady := 0
		lab.Eventually(t, "the waiter is seen", func() bool {
			before := seen["waited for"]
			time.Sleep(100 * time.Millisecond) // it takes more than one step
			seen["waited for"] = p.tree()
			if steady++; !slices.Equal(before, seen["waited for"]) {
				steady = 0
			}
			// Where a step takes longer than that, the golden file knows how many there are.
			return len(before) > len(seen["held"]) && (steady > 50 || steady > 0 && len(before) >= k.linesOfWaiter())
		})
		waiter.LetGo()
		waiter.Status()
	}
	holder.Release()
	if k.shared {
		one := lab.Hold(t, p.command(t, "hold", "--shared"))
		one.Held()
		two := lab.Hold(t, p.command(t, "hold", "--shared"))
		two.Held()
		seen["shared"] = p.tree()
		one.Release()
		two.Release()
	}
	seen["free"] = p.tree()
	if k.closed {
		run := p.command(t, "run", "--once-per", "1h")
		run.Args = append(run.Args, "--", "true")
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		seen["done"] = p.tree()
	}
	return seen
}

// linesOfWaiter is how many lines the golden file has of a lock that is waited for.
func (k kind) linesOfWaiter() int {
	text, _ := os.ReadFile(filepath.Join("testdata", k.name+".shape")) // -update may be about to make it
	_, waited, _ := strings.Cut(string(text), "[waited for]\n")
	waited, _, _ = strings.Cut(waited, "\n[")
	return len(strings.Split(strings.TrimSpace(waited), "\n"))
}

// hidden are the values that differ from machine to machine, and from time to time.
var hidden = []struct{ pattern, with string }{
	{`\b(host|machine|boot|pidns|timens|pid|start|ppid|pstart|user|program|at|lifeline)=[^ "\\]*`, "$1=*"},
	{`\b[0-9a-f]{32}\b`, "ID"},
	{`\b[0-9]+\.([0-9]+)\.g[A-Z][A-Za-z0-9_-]{60,}`, "BEAT.$1.RECORD"},
	{`"[0-9]+\\nLOCK`, `"PID\nLOCK`},
	{`"(\\.|[^"\\])*\\x00\\nLOCK`, `"INT\nLOCK`}, // on Linux no pid has a fourth byte
	{`[0-9]{8,}`, "TIME"},
}

func shape(lines []string) []string {
	host, err := os.Hostname()
	if err != nil {
		panic(err)
	}
	var all []string
	for _, line := range lines {
		for _, h := range hidden {
			line = regexp.MustCompile(h.pattern).ReplaceAllString(line, h.with)
		}
		line = strings.ReplaceAll(line, "."+base64.RawURLEncoding.EncodeToString([]byte(host)), ".HOST")
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

func text(seen map[string][]string) string {
	var b strings.Builder
	for _, state := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintf(&b, "[%s]\n%s\n", state, strings.Join(seen[state], "\n"))
	}
	return b.String()
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("what this version writes is not %s any more: can older versions read it, and can this one read theirs? "+
			"Then say so in cmd/locksmith/CHANGES.md, and go test ./test/formats -update\n--- was\n%s--- is\n%s", file, want, got)
	}
}

// TestWritten: names and records on disk, on servers and in stores equal those of the golden
// files.
func TestWritten(t *testing.T) {
	lab.Program(t, "cmd/locksmith-remote") // for s3:, beside the other
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			seen := k.capture(t)
			if *update && !slices.Contains([]string{"s3", "etcd", "flock"}, k.name) { // no file shows a flock: lock; the kernel has it
				golden(t, k.name+".tree", text(map[string][]string{"held": seen["held"]}))
			}
			for state := range seen {
				seen[state] = shape(seen[state])
			}
			golden(t, k.name+".shape", text(seen))
		})
	}
}

// TestRead: this version knows who holds locks that a helper of the golden files' version made
// on another machine.
func TestRead(t *testing.T) {
	for _, k := range kinds {
		raw, err := os.ReadFile(filepath.Join("testdata", k.name+".tree"))
		if err != nil || strings.HasPrefix(k.name, "ftp") {
			continue // as mkdir:, on the server's disk
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plant(t, dir, string(raw))
			address, optional := map[string]string{"mkdir-dir": "mkdir:%s/a?style=dir", "local-binary": "local:%s/a?pid=binary"}[k.name]
			if !optional {
				address = k.name + ":%s/a"
			}
			p := onDisk(address)(t)
			p.address = strings.Replace(p.address, filepath.Dir(pathOf(p.address)), dir, 1)
			out, err := p.command(t, "status", "--json").Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range []string{`"host": "web3"`, `"job": "nightly"`, regexp.MustCompile("[0-9a-f]{32}").FindString(idIn(string(raw)))} {
				if !strings.Contains(string(out), want) {
					t.Errorf("status of a lock from the golden files does not show %s: %s", want, out)
				}
			}
		})
	}
}

// pathOf is the path of an address.
func pathOf(address string) string {
	_, path, _ := strings.Cut(address, ":")
	path, _, _ = strings.Cut(path, "?")
	return path
}

// idIn returns the holder's id, which follows these in names or records.
func idIn(tree string) string {
	return regexp.MustCompile(`( id=|-)[0-9a-f]{32}`).FindString(tree)
}

// plant makes the files, links and directories of a tree.
func plant(t *testing.T, dir, tree string) {
	t.Helper()
	for line := range strings.Lines(tree) {
		what, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		var words []string
		for rest != "" && strings.HasPrefix(rest, `"`) {
			word, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatal(err)
			}
			rest = strings.TrimPrefix(rest[len(word):], " ")
			word, _ = strconv.Unquote(word)
			words = append(words, word)
		}
		var err error
		switch what {
		case "d":
			err = os.Mkdir(filepath.Join(dir, words[0]), 0o755)
		case "l":
			err = os.Symlink(words[1], filepath.Join(dir, words[0]))
		case "f":
			err = os.WriteFile(filepath.Join(dir, words[0]), []byte(words[1]), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestJSON: the keys of what commands and events say in JSON.
func TestJSON(t *testing.T) {
	t.Parallel()
	p := onDisk("nfs:%s/a")(t)
	events := filepath.Join(t.TempDir(), "events")
	said := map[string][]string{}
	holder := lab.Hold(t, p.command(t, "hold", "--meta", "job=nightly", "--events", events))
	holder.Held()
	for waited := false; !waited; { // on a busy machine the time may be over before it has tried
		lab.Hold(t, p.command(t, "hold", "--events", events, "--timeout", "1s")).Status()
		text, err := os.ReadFile(events)
		if err != nil {
			t.Fatal(err)
		}
		waited = bytes.Contains(text, []byte(`"event":"waiting"`))
	}
	for name, args := range map[string][]string{"status": {"status", "--json"}, "version": {"version", "--json"}, "list": {"list", "--json"}} {
		cmd := p.command(t, args...)
		switch name {
		case "version":
			cmd.Args = cmd.Args[:len(cmd.Args)-1]
		case "list":
			cmd.Args[len(cmd.Args)-1] = filepath.Dir(pathOf(p.address))
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		said[name] = keys(t, out)
	}
	holder.Release()
	lines, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		var e struct{ Event string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		said["event "+e.Event] = keys(t, []byte(line))
	}
	golden(t, "json.shape", text(said))
}

// keys are the paths of all values of an object.
func keys(t *testing.T, object []byte) []string {
	t.Helper()
	var value any
	if err := json.Unmarshal(object, &value); err != nil {
		t.Fatalf("%v\n%s", err, object)
	}
	all := map[string]bool{}
	walk(value, "", all)
	return slices.Sorted(maps.Keys(all))
}

func walk(value any, path string, all map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			walk(inner, path+"."+key, all)
		}
	case []any:
		for _, inner := range v {
			walk(inner, path+"[]", all)
		}
	default:
		all[fmt.Sprintf("%s %T", path, v)] = true
	}
}
