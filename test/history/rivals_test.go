//go:build unix

package history

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// A rival is a way to run a command under a lock, ours or another's.
type rival struct {
	name  string
	probe string   // a shell's command that succeeds where the rival is installed; "": it always is
	argv  []string // before the command; {lock} is a path of its own
}

func rivals() []rival {
	ours := func(scheme, query string) rival {
		name := "locksmith " + scheme + query
		return rival{name, "", []string{"{locksmith}", "run", "--lease", "8s", scheme + "{lock}" + query, "--"}}
	}
	return []rival{
		ours("local:", ""),
		ours("nfs:", ""),
		ours("mkdir:", ""),
		ours("mkdir:", "?style=dir"),
		ours("link:", ""),
		{"locksmith flock:", "", strings.Fields("{locksmith} run flock:{lock} --")},
		{"flock(1)", "command -v flock", strings.Fields("flock {lock}")},
		{"setlock", "command -v setlock", strings.Fields("setlock {lock}")},
		{"dotlockfile -p", "command -v dotlockfile", strings.Fields("dotlockfile -p -l -r -1 {lock}")},
		{"flufl.lock", "/usr/bin/python3 -c 'import flufl.lock'", strings.Fields("/usr/bin/python3 {testdata}/flufl.py {lock}")},
		{"proper-lockfile", "NODE_PATH=/usr/share/nodejs node -e 'require(\"proper-lockfile\")'", strings.Fields("env NODE_PATH=/usr/share/nodejs node {testdata}/proper-lockfile.js {lock}")},
		{"File::NFSLock", "perl -MFile::NFSLock -e 1", strings.Fields("perl {testdata}/nfslock.pl {lock}")},
		{"etcdctl lock --ttl 8", "command -v etcd && command -v etcdctl", strings.Fields("etcdctl --endpoints {etcd} lock --ttl 8 {lock}")},
		{"a loop of mkdir", "", []string{"sh", "-c", `until mkdir "$0" 2>/dev/null; do sleep 0.05; done; "$@"; rmdir "$0"`, "{lock}"}},
	}
}

// need skips the test where the rival is not installed.
func (r rival) need(t *testing.T) {
	t.Helper()
	if r.probe != "" && exec.Command("sh", "-c", r.probe).Run() != nil {
		lab.Lacking(t, r.name+" is missing")
	}
}

// fill returns the arguments that come before the command.
func (r rival) fill(t *testing.T, lock string) []string {
	t.Helper()
	here := testdata(t)
	paths := []string{"{lock}", lock, "{testdata}", here}
	for _, word := range r.argv {
		switch word {
		case "{locksmith}":
			paths = append(paths, word, locksmithHere(t))
		case "{etcd}":
			paths = append(paths, word, startEtcd(t))
		}
	}
	filled := make([]string, len(r.argv))
	for i, word := range r.argv {
		filled[i] = strings.NewReplacer(paths...).Replace(word)
	}
	return filled
}

// testdata returns the directory with the programs that use other tools' libraries; in a guest,
// the machine's directory.
func testdata(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("LAB_TESTDATA"); dir != "" {
		return dir
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// locksmithHere is the program; in a guest it is on the PATH of hosts.
func locksmithHere(t *testing.T) string {
	t.Helper()
	if os.Getenv("LAB_TESTDATA") != "" {
		return "locksmith"
	}
	return lab.Program(t, "cmd/locksmith")
}

// startEtcd starts a server of one member, and returns its address.
func startEtcd(t *testing.T) string {
	t.Helper()
	address := func() string { return fmt.Sprintf("http://127.0.0.1:%d", lab.ReservePort(t)) }
	clients, peers := address(), address()
	etcd := lab.Start(t, exec.Command("etcd", "--data-dir", t.TempDir(), "--log-level", "error", "--unsafe-no-fsync",
		"--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers))
	lab.Eventually(t, "etcd answers", func() bool {
		return exec.Command("etcdctl", "--endpoints", clients, "endpoint", "health").Run() == nil
	}, etcd.Stderr)
	return clients
}

// clearAway does what an operator does about a stuck lock: it removes everything in its
// directory.
func clearAway(dir string) {
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range all {
		_ = os.RemoveAll(name)
	}
}
