package machines

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// A container is a command line that goes on in one, or with a part of one: what follows runs there.
type container struct {
	name  string
	enter []string
	user  bool // it is another user's: it can look at locks, and take none
	hosts bool // locks for several machines are tried from there, too
}

// containers are all the ways in which somebody looks at a holder from somewhere else on its machine.
func containers(t *testing.T) []container {
	t.Helper()
	lab.NotShort(t, "makes containers")
	lab.NeedRoot(t)
	lab.NeedProgram(t, "unshare")
	boot := filepath.Join(t.TempDir(), "boot_id")
	if err := os.WriteFile(boot, []byte("60fac96d-8fc5-47e6-a655-76f1d2f39b26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const mount, own, then = "mount -t proc proc /proc && ", `mount --bind "$0" /proc/sys/kernel/random/boot_id && `, `exec "$@"`
	all := []container{
		{name: "a sibling with a boot id of its own", hosts: true, enter: []string{"unshare", "-m", "-p", "-f", "--kill-child", "sh", "-c", mount + own + then, boot}},
		{name: "a sibling with the machine's boot id", enter: []string{"unshare", "-m", "-p", "-f", "--kill-child", "sh", "-c", mount + then, "sh"}},
		{name: "the same pids, another boot id", enter: []string{"unshare", "-m", "sh", "-c", own + then, boot}},
		{name: "the /proc around it", hosts: true, enter: []string{"unshare", "-p", "-f", "--kill-child"}},
		{name: "no /proc", enter: []string{"unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc && " + then, "sh"}},
		{name: "a shifted clock", enter: []string{"unshare", "-T", "--boottime", "1000000", "-f", "--kill-child"}},
		{name: "processes of others hidden", user: true, enter: []string{"unshare", "-m", "sh", "-c",
			"mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 65534 --regid 65534 --clear-groups " + `"$@"`, "sh"}},
	}
	for _, c := range all {
		if status, said := lab.Run(t, c.command("true")); status != 0 {
			lab.Lacking(t, c.name+": this machine makes no such container: "+said)
		}
	}
	return all
}

// command is a command in the container.
func (c container) command(args ...string) *exec.Cmd {
	return exec.Command(c.enter[0], slices.Concat(c.enter[1:], args)...)
}

// TestLivingHolders: whoever looks from another container, or with another /proc, never takes a living
// holder for dead, whatever it sees of boots, pids and clocks. The same goes for a holder whose helper
// was killed while its parent works on. Kinds that are for several machines have one judge, for whom two
// of the containers are enough.
func TestLivingHolders(t *testing.T) {
	t.Parallel()
	lookers := containers(t)
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // for other users
		t.Fatal(err)
	}
	all := append(disk(t), kind{name: "link:?pids=local", address: "link:" + dir + "/NAME?pids=local"},
		kind{name: "flock:", address: "flock:" + dir + "/flock.NAME"},
		kind{name: "a set", address: "local:" + dir + "/one.NAME nfs:" + dir + "/two.NAME"})
	for _, k := range append(all, served(t)...) {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			k.program = lab.Program(t, "cmd/locksmith")
			if k.name == "s3:" {
				k.program = program(t)
			}
			locks := k.living(t)
			for _, c := range lookers {
				if c.hosts || k.name == "local:" || k.name == "link:?pids=local" {
					k.mustLive(t, c, locks)
				}
			}
		})
	}
}

// living takes two locks: one for a command, and one for this process, whose helper is then killed.
func (k kind) living(t *testing.T) (locks []string) {
	t.Helper()
	start := func(args string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", "exec "+k.program+" "+args)
		cmd.Env = k.with()
		return cmd
	}
	runs, held := k.words("runs"), k.words("held")
	lab.Start(t, start("run "+runs+" -- sh -c 'echo ready; exec sleep 300'")).Expect("ready")
	if k.name == "flock:" { // as with flock(1), the lock ends with the helper
		return []string{runs}
	}
	h := lab.Hold(t, start("hold "+held))
	h.Held()
	h.Kill()
	return []string{runs, held}
}

// words are the addresses of a lock, or of a set, as a shell reads them.
func (k kind) words(name string) string {
	return "'" + strings.ReplaceAll(k.lock(name), " ", "' '") + "'"
}

// mustLive makes sure that somebody in a container neither takes the locks nor calls a holder dead.
func (k kind) mustLive(t *testing.T, c container, locks []string) {
	t.Helper()
	verb, command, want := " run -n ", " -- true", 75
	if c.user {
		verb, command, want = " status ", "", 0
	}
	script := ""
	for _, lock := range locks {
		script += k.program + verb + lock + command + "; echo exit $?; "
	}
	cmd := c.command("sh", "-c", script)
	cmd.Env = k.with()
	_, said := lab.Run(t, cmd)
	if strings.Count(said, fmt.Sprintf("exit %d\n", want)) != len(locks) || strings.Contains(said, "[dead]") || strings.Contains(said, ", dead)") || strings.Contains(said, ": free\n") {
		t.Errorf("%s: of%slocks that are held it is said:\n%s", c.name, verb, said)
	}
}

// TestHiddenLocks: where the kernel hides who has a lock of flock:, nobody is told that it is free, and
// the record in the file is told as what it is.
func TestHiddenLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock := "flock:" + dir + "/lock"
	lookers, locksmith := containers(t), lab.Program(t, "cmd/locksmith")
	lab.Start(t, exec.Command(locksmith, "run", "--meta", "job=nightly", lock, "--", "sh", "-c", "echo ready; exec sleep 300")).Expect("ready")
	for _, c := range lookers {
		if c.user || c.enter[1] == "-T" || strings.HasPrefix(c.name, "the same pids") {
			continue // that does not hide locks
		}
		tells := "unknown"
		if strings.HasPrefix(c.name, "the /proc around") {
			tells = "held" // it shows all locks, with numbers of processes that are not ours
		}
		for _, args := range [][]string{{"status", lock}, {"status", "--json", lock}, {"list", "flock:" + dir}, {"list", "--json", dir}, {"break", lock}, {"break", "--json", lock}} {
			_, said := lab.Run(t, c.command(append([]string{locksmith}, args...)...))
			if !strings.Contains(said, tells) && args[0] != "break" || strings.Contains(said, "free") || !strings.Contains(said, "nightly") {
				t.Errorf("%s: %s says\n%s\nwant %q, and the record", c.name, args, said, tells)
			}
		}
		watch := lab.Start(t, c.command(locksmith, "status", "--watch", lock))
		if _, said := watch.Line(), watch.Line(); !strings.HasPrefix(said, lock+": "+tells) || !strings.Contains(said, "nightly") {
			t.Errorf("%s: status --watch says\n%s", c.name, said)
		}
		run := []string{locksmith, "run", "-n", lock, "--", "true"}
		if status, said := lab.Run(t, c.command(run...)); status != 75 || !strings.Contains(said, "nightly") {
			t.Errorf("%s: run exits with %d and says\n%s\nwant 75, and the record", c.name, status, said)
		}
	}
}
