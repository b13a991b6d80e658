package packaging

import (
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

var long = flag.Bool("long", false, "build for arm64, too, and with an empty cache, and try the package in a small Debian system, made with debootstrap as root")

// freshSystem: the package does what README promises on a machine that has only Debian's smallest
// set of packages and those that show man pages and complete commands.
func freshSystem(t *testing.T, m making) {
	if !*long {
		t.Skip("without -long no system is made to try the package in, as that takes minutes")
	}
	lab.NeedProgram(t, "debootstrap")
	lab.NeedRoot(t)
	s := &system{t, t.TempDir()}
	s.run("", `debootstrap --variant=minbase --include=bash-completion,mandoc stable "$1"`)
	s.put("tmp/locksmith.deb", m.file(t, "*_"+runtime.GOARCH+".deb"))
	s.inside("", `dpkg -i /tmp/locksmith.deb`)

	s.inside("held", `locksmith run local:/tmp/lock -- echo held`)
	s.inside("LOCKSMITH-RUN(1)", `mman locksmith-run`)
	s.inside("complete -o default -F __start_locksmith locksmith",
		`bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader locksmith; complete -p locksmith'`)
	s.inside("zsh", `head -1 /usr/share/zsh/vendor-completions/_locksmith | grep -x '#compdef locksmith' && echo zsh`)

	server := ftpserver.Start(t, "pyftpdlib", ftpserver.Options{})
	lock := (&url.URL{Scheme: "ftp", Host: server.Addr, User: url.User(server.User), Path: "/lock"}).String()
	held := s.inside("working", `
		export LOCKSMITH_PASSWORD='`+server.Password+`' LOCK=`+lock+`
		cd /tmp
		sed 's/^print.*/&system "locksmith status $ARGV[0]";/' /usr/share/doc/locksmith/examples/example.pl >hold.pl
		perl hold.pl $LOCK
		locksmith status $LOCK`)
	if !strings.Contains(held, "held by root@") || !strings.Contains(held, "free") {
		t.Errorf("no lock at the FTP server while working, or still one after it:\n%s", held)
	}
}

// A system is a Debian system in a directory.
type system struct {
	t    *testing.T
	root string
}

// run runs a script, whose $1 is the system's directory. Its mounts are its own and end with it,
// so that nothing is mounted in the directory when it is removed after the test.
func (s *system) run(want, script string) (out string) {
	s.t.Helper()
	cmd := exec.Command("unshare", "--mount", "sh", "-ec", script, "sh", s.root)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TERM=dumb", "LC_ALL=C.UTF-8"}
	out = output(s.t, cmd)
	if !strings.Contains(out, want) {
		s.t.Errorf("%s\nprints no %q:\n%s", script, want, out)
	}
	return out
}

// inside runs a script in the system.
func (s *system) inside(want, script string) (out string) {
	s.t.Helper()
	return s.run(want, `mount -t proc proc "$1/proc"; exec chroot "$1" sh -e <<'END'`+"\n"+script+"\nEND\n")
}

func (s *system) put(path, from string) {
	s.t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(filepath.Join(s.root, path), content, 0o644)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
