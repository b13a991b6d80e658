//go:build linux

package etcdlab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/etcdserver"
	"locksmith/test/lab"
	"locksmith/test/lab/outage"
)

// TestGuide types what the guide says, to the letter except for ports and the directory, and checks that
// it shows what the guide shows.
func TestGuide(t *testing.T) {
	lab.NotShort(t, "starts etcd")
	lab.NeedProgram(t, "etcdctl")
	client, peer := lab.ReservePort(t), lab.ReservePort(t)
	bin, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(etcdserver.Program(t), filepath.Join(bin, "etcd")); err != nil {
		t.Fatal(err)
	}
	own := strings.NewReplacer("2379", fmt.Sprint(client), "/tmp/etcd-demo", dir+"/demo", "etcd://127.0.0.1/", fmt.Sprintf("etcd://127.0.0.1:%d/", client),
		"etcd --data-dir", fmt.Sprintf("etcd --listen-peer-urls http://127.0.0.1:%[1]d --initial-advertise-peer-urls http://127.0.0.1:%[1]d --initial-cluster default=http://127.0.0.1:%[1]d --data-dir", peer))
	var script, shown strings.Builder
	for _, begin := range []string{"$ etcd --data-dir", "$ locksmith run \"$LOCK\" -- sh -c 'KEY="} {
		for line := range strings.Lines(own.Replace(lab.BlockOfGuide(t, begin))) {
			command, is := strings.CutPrefix(line, "$ ")
			more, continues := strings.CutPrefix(line, "> ")
			switch {
			case is:
				script.WriteString(command)
				if strings.HasPrefix(command, "etcd ") {
					script.WriteString("until etcdctl endpoint health > /dev/null 2>&1; do sleep 0.1; done\n")
				}
			case continues:
				script.WriteString(more)
			case line == "…\n":
				shown.WriteString("(?s:.*)")
			default:
				shown.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
			}
		}
	}
	cmd := exec.Command("sh", "-c", script.String()+"kill %1 2>/dev/null || kill $!\n")
	locksmith(t)
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+filepath.Dir(lab.Program(t, "cmd/locksmith"))+":"+os.Getenv("PATH"), fmt.Sprintf("ETCDCTL_ENDPOINTS=127.0.0.1:%d", client), "ETCDCTL_API=3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	if !regexp.MustCompile("^" + shown.String() + "$").Match(said) {
		t.Errorf("the commands\n%s\nsay\n%s\nwant\n%s", &script, said, &shown)
	}
}

// TestOutage: the only member is killed while somebody has the lock and others wait.
func TestOutage(t *testing.T) {
	lab.NotShort(t, "starts etcd")
	for about, test := range map[string]func(outage.Outage, *testing.T){"back in time": outage.Outage.BackInTime, "too late": outage.Outage.BackTooLate} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			c := etcdserver.Start(t, etcdserver.Options{})
			test(outage.Outage{
				Hold:    func(flags ...string) *lab.Helper { return hold(t, c, flags...) },
				Stop:    func() { c.Kill(0) },
				Restart: func() { c.Restart(0); c.Await() },
				Holder:  func() string { return c.Holder("locks/l/") },
			}, t)
		})
	}
}

func hold(t *testing.T, c *etcdserver.Cluster, flags ...string) *lab.Helper {
	t.Helper()
	return lab.Hold(t, locksmith(t, append(append([]string{"hold"}, flags...), c.Address("locks/l"))...))
}

// TestAlarm: a holder is told at once that its key was removed, or its lease revoked, long before its next
// heartbeat.
func TestAlarm(t *testing.T) {
	lab.NotShort(t, "starts etcd")
	c := etcdserver.Start(t, etcdserver.Options{})
	for _, how := range []string{"removed", "broken"} {
		h := hold(t, c, "--lease", "10m")
		id := h.Held().Value("id")
		begin := time.Now()
		if how == "removed" {
			c.Remove(t, "locks/l/x."+id)
		} else if said, err := locksmith(t, "break", "--force", "--reason", "a test", "--id", id, c.Address("locks/l")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		if code := h.Says(protocol.WordLost).Value("code"); code != string(protocol.Gone) {
			t.Errorf("%s: lost: %s", how, code)
		}
		if took := time.Since(begin); took > lab.Patience/2 {
			t.Errorf("%s: told after %v; the next heartbeat is due after 150 s", how, took)
		}
		h.LetGo()
		h.Exits(protocol.Gone.Exit())
	}
}
