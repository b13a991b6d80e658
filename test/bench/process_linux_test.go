package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/test/etcdserver"
	"locksmith/test/lab"
)

// A bench is what all measurements share.
type bench struct {
	testing.TB // the test that measures at the moment
	plan
	ours    []rival // each with a column for its ratios to the others
	among   string  // after each figure, where another table has it, too
	rows    []row
	dir     string            // of locks
	paths   []string          // names in braces, each with what it stands for
	excuses map[string]string // why a rival has no value, by its name
	locks   int               // so far
	etcd    *etcdserver.Cluster
}

func newBench(t *testing.T, figures []figure, ours ...rival) *bench {
	b := &bench{TB: t, plan: quick, ours: ours, dir: t.TempDir(), excuses: map[string]string{}}
	if *rounds > 0 {
		b.plan = full
		b.rounds = *rounds
	}
	scripts, err := filepath.Abs("scripts")
	if err != nil {
		t.Fatal(err)
	}
	b.paths = []string{"{scripts}", scripts}
	for _, pkg := range []string{"cmd/locksmith", "test/bench/looper", "test/bench/floor", "test/bench/peer"} {
		b.paths = append(b.paths, "{"+filepath.Base(pkg)+"}", copied(t, lab.Program(t, pkg)))
	}
	for _, v := range []string{"NODE_PATH=/usr/share/nodejs", "PYTHONDONTWRITEBYTECODE=1", "ETCDCTL_API=3", "LOCKSMITH={locksmith}"} {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, b.fill(words(value), "")[0])
	}
	b.findRivals(figures)
	return b
}

// copied is a copy of a program, as after it was installed. What the linker wrote lies in the page cache
// in single pages, and starts a millisecond later.
func copied(t *testing.T, program string) string {
	text, err := os.ReadFile(program)
	to := filepath.Join(t.TempDir(), filepath.Base(program))
	if err == nil {
		err = os.WriteFile(to, text, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// findRivals finds out who is here.
func (b *bench) findRivals(figures []figure) {
	asked := map[string]bool{"": true}
	for _, f := range figures {
		for _, r := range f.of {
			if !asked[r.probe] && exec.Command("sh", "-c", b.fill([]string{r.probe}, "")[0]).Run() != nil {
				b.excuses[r.name] = "not installed"
			}
			asked[r.probe] = true
		}
	}
	if b.excuses[etcdctl.name] == "" && asked[etcdctl.probe] {
		b.paths = append(b.paths, "{etcd}", b.startEtcd())
	}
}

// present returns the rivals that have no excuse.
func (b *bench) present(of []rival) (here []rival) {
	for _, r := range of {
		if b.excuses[r.name] == "" {
			here = append(here, r)
		}
	}
	return here
}

// fill returns arguments without braces.
func (b *bench) fill(argv []string, lock string) (filled []string) {
	r := strings.NewReplacer(append(b.paths, "{lock}", lock)...)
	for _, word := range argv {
		filled = append(filled, r.Replace(word))
	}
	return filled
}

// goalsOf are the goals of the figures that are measured.
func (b *bench) goalsOf(all, besideFlock goals) goals {
	if b.among != "" {
		return besideFlock
	}
	return all
}

// lock is the path of another lock.
func (b *bench) lock() string {
	b.locks++
	return filepath.Join(b.dir, fmt.Sprintf("lock-%d", b.locks))
}

// mustBeReleased fails if a lock of ours is left behind.
func (b *bench) mustBeReleased(r rival, lock string) {
	switch {
	case r.scheme == "nfs:":
		if left, err := os.ReadDir(lock + "/R"); err != nil || len(left) > 0 {
			b.Fatalf("%s: lock %s was left behind (%v): %v", r.name, lock, err, left)
		}
	case r.scheme == "flock:":
		b.mustBeUnlocked(r, lock)
	case r.scheme == "etcd:":
		if left := b.etcd.Holder(lock + "/"); left != "" {
			b.Fatalf("%s: lock %s was left behind: %s", r.name, lock, left)
		}
	case r.style == "dir":
		b.mustNotBe(r, lock+"/r.*", lock+"/lock/*")
	case r.scheme != "":
		b.mustNotBe(r, lock, lock+".*")
	}
}

// mustBeUnlocked fails if somebody has the kernel's lock of a file.
func (b *bench) mustBeUnlocked(r rival, path string) {
	file, err := os.Open(path)
	if err == nil {
		defer file.Close()
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		b.Fatalf("%s: lock %s was left behind: %v", r.name, path, err)
	}
}

// mustNotBe fails if there is something with such a name.
func (b *bench) mustNotBe(r rival, patterns ...string) {
	for _, p := range patterns {
		if left, err := filepath.Glob(p); err != nil || len(left) > 0 {
			b.Fatalf("%s: was left behind (%v): %v", r.name, err, left)
		}
	}
}

// command makes a process in a group of its own, so that a terminal's Ctrl-C reaches only us. It
// dies with us.
func command(ctx context.Context, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// once runs a command to its end and returns how long that took, and how much processor
// time it used with all that it waited for.
func (b *bench) once(argv []string) (took, used time.Duration) {
	cmd := command(b.Context(), argv)
	said, err := os.Create(filepath.Join(b.dir, "said")) // a pipe would have to be read meanwhile
	if err != nil {
		b.Fatal(err)
	}
	defer said.Close()
	cmd.Stderr = said
	start := time.Now()
	err = cmd.Run()
	took = time.Since(start)
	if err != nil {
		text, _ := os.ReadFile(said.Name())
		b.Fatalf("%q: %v\n%s", argv, err, text)
	}
	return took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// start starts a process that says a line when it has the lock, or is ready for it, and
// stays until its standard input ends.
func (b *bench) start(argv []string) *lab.Process {
	p := lab.Start(b.TB, command(context.Background(), argv))
	b.Cleanup(func() { killGroup(p) })
	return p
}

// killGroup ends a process and what it has started.
func killGroup(p *lab.Process) {
	select {
	case <-p.Ended():
	default:
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // it has ended since
	}
}

// startEtcd starts a server on an address that nobody else uses, and returns the address.
func (b *bench) startEtcd() string {
	host := fmt.Sprintf("http://127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	clients, peers := host+":12379", host+":12380"
	p := b.start([]string{"etcd", "--data-dir", filepath.Join(b.dir, "etcd"), "--log-level", "error",
		"--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=" + peers})
	lab.Eventually(b, "etcd answers", func() bool {
		select {
		case <-p.Ended():
			b.Fatal("etcd does not start")
		default:
		}
		return exec.Command("etcdctl", "--endpoints", clients, "endpoint", "health").Run() == nil
	})
	return clients
}
