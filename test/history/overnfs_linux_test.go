package history

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/test/guest"
	"locksmith/test/lab"
)

const nfsTitle = "Others in the same fire, over NFS"

// overNFS are the rivals that are tried over NFS, ours among them. The other rivals need a server
// of their own, or say that they are for local disks.
var overNFS = []string{"locksmith nfs:", "locksmith mkdir:?style=dir", "locksmith link:", "flock(1)", "dotlockfile -p", "flufl.lock", "File::NFSLock", "a loop of mkdir"}

// nfsVersions are the versions with which the hosts mount the export. No locking daemon runs
// beside version 3.
var nfsVersions = []string{"3", "4.2"}

func rivalsOverNFS() []rival {
	return slices.DeleteFunc(rivals(), func(r rival) bool { return !slices.Contains(overNFS, r.name) })
}

func nfsRow(r rival, version string) string { return r.name + ", NFS " + version }

// TestRivalsOverNFS: the same as TestRivals, where each contender is on a host of its own.
func TestRivalsOverNFS(t *testing.T) {
	if guest.Inside() {
		return
	}
	if !*long {
		t.Skip("takes a quarter of an hour: only with -long")
	}
	for _, r := range rivalsOverNFS() {
		r.need(t)
	}
	l := guest.In(t, "../nfslab/guest", lab.Program(t, "cmd/locksmith"))
	processors := guest.Processors(t)
	rows := make([]string, len(nfsVersions))
	t.Run("all", func(t *testing.T) {
		for i, version := range nfsVersions {
			t.Run("v"+version, func(t *testing.T) {
				t.Parallel()
				cpu := <-processors
				defer func() { processors <- cpu }()
				said := l.Boot(t, guest.Guest{Hosts: rivalsCrowd, Disk: true, CPU: cpu, Run: "^TestRivalsGuest$",
					Settings: []string{"LAB_VERS=" + version, "LAB_FS=ext4", "LAB_TESTDATA=" + testdata(t)}})
				for _, row := range regexp.MustCompile(`(?m)row: (\|.*\|)$`).FindAllStringSubmatch(said, -1) {
					rows[i] += row[1] + "\n"
				}
			})
		}
	})
	all := strings.Join(rows, "")
	if t.Failed() || strings.Count(all, "\n") != len(nfsVersions)*len(overNFS) || !*updateRivals {
		return
	}
	lab.Publish(t, rivalsPage, nfsTitle, fmt.Sprintf(nfsText, time.Now().Format("2 January 2006"), nfsHosts{}.patience())+all, true)
}

const nfsText = `Written on %s by ` + "`" + `go test ./test/history -run TestRivalsOverNFS -long -update -timeout 1h` + "`" + `. Three hosts,
one contender on each, mount the Linux NFS server in [the lab](../nfslab/doc.go), with a disk of ext4, version 3 with the
option nolock. All else is as above, but programs take ten times as long to start, no host sees another's processes, and *stuck* is after %v.

dotlockfile -p asks its own kernel whether the holder's process lives, also of a holder on another host. With nolock each host has
flock(1)'s locks for itself. File::NFSLock and the loop wait for a dead holder on another host for ever.

| lock | holds | harmed | overlaps, and the longest | by what | not told | stuck | longest wait |
| --- | --- | --- | --- | --- | --- | --- | --- |
`

// TestRivalsGuest runs in the guest, beside the server.
func TestRivalsGuest(t *testing.T) {
	if !guest.Inside() {
		return
	}
	for _, r := range rivalsOverNFS() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.name = nfsRow(r, os.Getenv("LAB_VERS"))
			t.Logf("row: %s", strings.TrimSpace(r.burn(t, nfsHosts{})))
		})
	}
}

// TestRivalsOverNFSPage: the page has each of them.
func TestRivalsOverNFSPage(t *testing.T) {
	text, err := os.ReadFile(rivalsPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rivalsOverNFS() {
		for _, version := range nfsVersions {
			if row := nfsRow(r, version); !strings.Contains(string(text), "\n| "+row+" | ") {
				t.Errorf("%s has no row of %s", rivalsPage, row)
			}
		}
	}
}

// nfsHosts is a ground of hosts that share nothing but what an NFS server exports.
type nfsHosts struct{}

func (nfsHosts) place(t *testing.T) (here, seen string) {
	t.Helper()
	name := strings.NewReplacer("/", "-", ":", "", " ", "-", "(", "", ")", "", "?", "").Replace(t.Name())
	here = filepath.Join("/mnt/export", name)
	if err := os.Mkdir(here, 0o777); err != nil {
		t.Fatal(err)
	}
	return here, filepath.Join("/mnt/nfs", name)
}

func (nfsHosts) command(contender int, argv ...string) *exec.Cmd {
	cmd := guest.On(1+contender, argv...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// patience is longer here, because starting a program takes ten times as long.
func (nfsHosts) patience() time.Duration { return 90 * time.Second }

// find looks below the started process, which only leads to the host, for the child of that
// process, and for the process that has the worker's pid on its host.
func (nfsHosts) find(started, worker int) (keeper, pid int) {
	if worker == 0 {
		return 0, 0
	}
	for _, keeper = range guest.Children(started) {
		if pid = descendant(keeper, worker); pid != 0 {
			return keeper, pid
		}
	}
	return 0, 0
}

// descendant returns the process, pid itself or a descendant, that has the pid own in its own
// namespace.
func descendant(pid, own int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "NSpid:" && f[len(f)-1] == fmt.Sprint(own) {
			return pid
		}
	}
	for _, child := range guest.Children(pid) {
		if found := descendant(child, own); found != 0 {
			return found
		}
	}
	return 0
}
