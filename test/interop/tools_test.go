//go:build unix

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"locksmith/test/lab"
)

// Exit statuses: of a program that finds a lock held, and of a locksmith that lost its own.
const (
	held = 75
	lost = 79
)

// nodePath is where Debian has Node's packages, where not every node looks.
const nodePath = "NODE_PATH=/usr/share/nodejs"

// A tool is somebody else's way to lock.
type tool struct {
	name string
	argv []string // of its program in testdata
	// probe is a command of the shell that succeeds if the tool is installed.
	probe string
	env   string // one variable
	// stale names the option with which the tool breaks old locks after 300 s; "" if that is no
	// option.
	stale     string
	refreshes bool // it can give a sign of life
	pids      bool // it goes by the pid in our file
}

var (
	dotlockfile = tool{name: "dotlockfile", argv: []string{"sh", "dotlockfile.sh"},
		probe: "command -v dotlockfile", refreshes: true}
	dotlockfileP = tool{name: "dotlockfile -p", argv: []string{"sh", "dotlockfile.sh"},
		probe: "command -v dotlockfile", env: "PID=-p", refreshes: true, pids: true}
	lockfileProgs = tool{name: "lockfile-create", argv: []string{"sh", "lockfile-progs.sh"},
		probe: "command -v lockfile-create", refreshes: true}
	lockfileProgsP = tool{name: "lockfile-create -p", argv: []string{"sh", "lockfile-progs.sh"},
		probe: "command -v lockfile-create", env: "PID=-p", refreshes: true, pids: true}
	procmail = tool{name: "procmail's lockfile", argv: []string{"sh", "lockfile.sh"},
		probe: "command -v lockfile", stale: "-l 300"}
	flufl = tool{name: "flufl.lock", argv: []string{"/usr/bin/python3", "flufl.py"},
		probe: "/usr/bin/python3 -c 'import flufl.lock'", refreshes: true}
	nfslock = tool{name: "File::NFSLock", argv: []string{"perl", "nfslock.pl"},
		probe: "perl -MFile::NFSLock -e 1", stale: "stale_lock_timeout"}
	lockf = tool{name: "Tcl's lockf", argv: []string{"tclsh", "lockf.tcl"},
		probe: "command -v tclsh", stale: "-stale 300", refreshes: true}
	ln = tool{name: "ln in a script", argv: []string{"sh", "ln.sh"},
		probe: "command -v ln"}
	noclobber = tool{name: "set -C in a script", argv: []string{"sh", "noclobber.sh"},
		probe: "command -v sh"}
	pidFile = tool{name: "pid file (O_EXCL)", argv: []string{"/usr/bin/python3", "pidfile.py"},
		probe: "/usr/bin/python3 -c ''", stale: "its test of the pid"}
	// The recipe always looks whether the pid is there: only so it can take our lock for a dead one's.
	binaryPID = tool{name: "binary pid file (O_EXCL, in C)", argv: []string{"cc", "binarypid.c"},
		probe: "command -v cc", env: "STALE=1", pids: true}
	mkdir = tool{name: "mkdir in a script", argv: []string{"sh", "mkdir.sh"},
		probe: "command -v mkdir"}
	proper = tool{name: "proper-lockfile", argv: []string{"node", "proper-lockfile.js"},
		probe: nodePath + ` node -e 'require("proper-lockfile")'`, env: nodePath}
)

// found returns the tool as it is called, and skips the test where it is missing.
func (x tool) found(t *testing.T) tool {
	t.Helper()
	if out, err := exec.Command("sh", "-c", x.probe).CombinedOutput(); err != nil {
		lab.Lacking(t, x.name+" is missing: "+x.probe+": "+string(out))
	}
	script := filepath.Join("testdata", x.argv[1])
	if x.argv[0] == "cc" {
		x.argv = []string{lab.CompileC(t, script)}
	} else {
		x.argv = []string{x.argv[0], script}
	}
	return x
}

// command returns its program with a verb. With old it breaks old locks.
func (x tool) command(old bool, verb string, args ...string) *exec.Cmd {
	cmd := exec.Command(x.argv[0], slices.Concat(x.argv[1:], []string{verb}, args)...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", x.env)
	if old {
		cmd.Env = append(cmd.Env, "STALE=300")
	}
	return cmd
}
