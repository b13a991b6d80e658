//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// canary is the password of these tests, which must appear nowhere.
const canary = "tiqqer4711canary"

// A secret is a way to tell locksmith a password. name is "" if the lock is given by its
// address.
type secret struct {
	about   string
	name    string            // of the profile
	profile string            // more lines of it
	files   map[string]string // in the home directory, with mode 0600
	env     []string
}

// secrets are all the ways. The netrc is for this machine.
func secrets(machine string) []secret {
	netrc := "machine " + machine + " login alice password " + canary + "\n"
	return []secret{
		{about: "environment", env: []string{"LOCKSMITH_PASSWORD=" + canary}},
		{about: "netrc", files: map[string]string{".netrc": netrc}},
		{about: "$NETRC", files: map[string]string{"rc": netrc}, env: []string{"NETRC=HOME/rc"}},
		{about: "password_file", name: "p", profile: `password_file = "~/secret"`, files: map[string]string{"secret": canary + "\n"}},
		{about: "password_env", name: "p", profile: `password_env = "FTP_PW"`, env: []string{"FTP_PW=" + canary}},
		{about: "netrc of a profile", name: "p", profile: `netrc = "~/rc"`, files: map[string]string{"rc": netrc}},
	}
}

// A place is a home directory with a secret in it, and a lock.
type place struct {
	home string
	env  []string
	lock string // as commands get it
}

func (s secret) place(t *testing.T, address string) place {
	t.Helper()
	p := place{home: t.TempDir(), lock: address}
	p.env = append(os.Environ(), "HOME="+p.home, "XDG_CONFIG_HOME="+p.home)
	for _, v := range s.env {
		p.env = append(p.env, strings.ReplaceAll(v, "HOME", p.home))
	}
	for name, text := range s.files {
		p.write(t, name, text)
	}
	if s.name != "" {
		p.lock = s.name
		p.write(t, "locksmith/profiles.toml", fmt.Sprintf("[%s]\nlock = %q\n%s\n", s.name, address, s.profile))
	}
	return p
}

func (p place) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(p.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// grepForSecret holds a lock in every way and looks for the canary wherever it could appear: in
// what is said, in the lines and environments of the processes, in the status, and below dir,
// where the lock's record is.
func grepForSecret(t *testing.T, p place, dir string) {
	t.Helper()
	events := filepath.Join(t.TempDir(), "events")
	for i, format := range []string{"text", "json"} {
		logs := []string{"--log-level", "trace", "--log-format", format, "--events", events}
		hold := p.start(t, append([]string{"hold"}, append(logs, p.lock)...))
		p.look(t, hold, dir)
		if i == 0 {
			p.lookElsewhere(t)
		}
		p.start(t, append([]string{"hold", "--timeout", "0"}, append(logs, p.lock)...)).end(t, 75)
		hold.letGo(t, 0)

		run := p.start(t, append([]string{"run"}, append(logs, p.lock, "--", "sh", "-c", "echo OK $$; read x; exit 0")...))
		p.look(t, run, dir)
		run.noSecretInChild(t)
		run.letGo(t, 0)
	}
	noSecret(t, "events", read(t, events))
}

// look waits for the lock, and greps while it is held.
func (p place) look(t *testing.T, s *started, dir string) {
	t.Helper()
	s.await(t, "OK ")
	noSecret(t, "command line", read(t, fmt.Sprintf("/proc/%d/cmdline", s.PID())))
	for _, args := range [][]string{{"status", p.lock}, {"status", "--json", p.lock}} {
		s := p.start(t, args)
		s.end(t, 0)
		if !strings.Contains(s.said(), "held") {
			t.Errorf("status of a lock that is held says: %s", s.said())
		}
	}
	noSecretBelow(t, dir)
}

// lookElsewhere greps what all other commands say of a lock that is held.
func (p place) lookElsewhere(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"break"}, {"break", "--json", "--id", "x"}, {"check", "--token", "1"}, {"remove", "--yes"}, {"reap", "--max-age", "1h"}, {"doctor", "--idle", "0"}, {"doctor", "--json", "--idle", "0"},
	} {
		p.start(t, append(args, p.lock)).endSomehow(t)
	}
}

func noSecretBelow(t *testing.T, dir string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		noSecret(t, "name", []byte(path))
		if d.Type().IsRegular() {
			noSecret(t, path, read(t, path))
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("looking for the password below %s: %d files, %v", dir, n, err)
	}
}

func noSecret(t *testing.T, where string, text []byte) {
	t.Helper()
	if bytes.Contains(text, []byte(canary)) {
		t.Errorf("the password appears in %s:\n%s", where, text)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return text
}

// A started is locksmith, running.
type started struct {
	*lab.Process
	out string // the file of its outputs
}

func (p place) start(t *testing.T, args []string) *started {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("locksmith", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, out, out
	return &started{lab.Start(t, cmd), out.Name()}
}

func (s *started) said() string {
	text, _ := os.ReadFile(s.out)
	return string(text)
}

func (s *started) await(t *testing.T, text string) {
	t.Helper()
	lab.Eventually(t, "it says "+text, func() bool { return strings.Contains(s.said(), text) }, s.said)
}

// noSecretInChild looks at the command of a run.
func (s *started) noSecretInChild(t *testing.T) {
	t.Helper()
	var pid int
	_, said, _ := strings.Cut(s.said(), "OK ")
	if _, err := fmt.Sscan(said, &pid); err != nil {
		t.Fatalf("the command of run wrote no pid: %v", err)
	}
	environ := read(t, fmt.Sprintf("/proc/%d/environ", pid))
	noSecret(t, "the command's environment", environ)
	if !bytes.Contains(environ, []byte("LOCKSMITH_ID=")) || bytes.Contains(environ, []byte("LOCKSMITH_PASSWORD=")) {
		t.Errorf("the command of run has the password in its environment: %q", environ)
	}
	noSecret(t, "the command's command line", read(t, fmt.Sprintf("/proc/%d/cmdline", pid)))
}

func (s *started) letGo(t *testing.T, status int) {
	t.Helper()
	s.LetGo()
	s.end(t, status)
}

func (s *started) end(t *testing.T, status int) {
	t.Helper()
	if got := s.endSomehow(t); got != status {
		t.Errorf("%v exited with %d, want %d: %s", s.Cmd.Args, got, status, s.said())
	}
}

// endSomehow waits for the end, with any exit status.
func (s *started) endSomehow(t *testing.T) (status int) {
	t.Helper()
	status = s.Status()
	if s.said() == "" {
		t.Errorf("%v says nothing", s.Cmd.Args)
	}
	noSecret(t, fmt.Sprintf("output of %v", s.Cmd.Args), []byte(s.said()))
	return status
}

func TestSecretsStaySecret(t *testing.T) {
	lab.NotShort(t, "starts hundreds of processes")
	t.Parallel()
	for _, s := range secrets("localhost") {
		t.Run(s.about, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			grepForSecret(t, s.place(t, "local:"+filepath.Join(dir, "lock")), dir)
		})
	}
}

// TestSecretsInErrors: mistakes in files with secrets do not tell them.
func TestSecretsInErrors(t *testing.T) {
	t.Parallel()
	const lock = "local:/nowhere/lock"
	file := map[string]string{"secret": canary}
	for about, s := range map[string]secret{
		"open quote":    {profile: `password = "` + canary},
		"no quotes":     {profile: `password = ` + canary},
		"no equal sign": {profile: `password ` + canary},
		"password":      {profile: `password = "` + canary + `"`},
		"misspelt":      {profile: `pasword = "` + canary + `"`},
		"unknown key":   {profile: `secret = "` + canary + `"`},
		"as a variable": {profile: `password_env = "-` + canary + `"`},
		"as a file":     {profile: `password_file = "` + canary + `"`},
		"as a number":   {profile: `timeout = "` + canary + `"`},
		"as metadata":   {profile: `meta = {"` + canary + `=" = "x"}`},
		"in an address": {profile: "[q]\nlock = \"ftp://alice:" + canary + "@h/x\"", name: "q"},
		"wrong mode":    {profile: `password_file = "~/secret"`, files: file},
		"two sources":   {profile: "password_file = \"~/secret\"\nnetrc = \"~/secret\"", files: file},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name := s.name
			s.name = "p"
			p := s.place(t, lock)
			if name != "" {
				p.lock = name
			}
			if about == "wrong mode" {
				if err := os.Chmod(filepath.Join(p.home, "secret"), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			logs := []string{"--log-level", "trace", "--log-format", "json", p.lock}
			p.start(t, append([]string{"hold"}, logs...)).end(t, 78)
			p.start(t, append(append([]string{"run"}, logs...), "--", "true")).end(t, 78)
			p.start(t, []string{"status", "--json", p.lock}).end(t, 78)
		})
	}
	for _, args := range [][]string{{"hold"}, {"status"}, {"status", "--json"}} {
		p := secret{}.place(t, "gopher://alice:"+canary+"@h/x")
		p.start(t, append(args, p.lock)).end(t, 64)
	}
}
