//go:build unix

package ftplab

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// recipe: the guide's own scripts bring a file to a server and fetch it. They, or their server,
// are killed at any moment. The file is whole all the time, at the server and where it was
// fetched.
func recipe(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{})
	r := &book{place: p, dir: t.TempDir(), took: map[string]time.Duration{}}
	r.write()
	r.renew()
	r.must("upload", "list")
	r.must("download", "copy")
	r.whole("copy")
	rounds := 7
	if *long {
		rounds = 40
	}
	for i := 0; i < rounds || r.cut == 0; i++ {
		r.renew()
		r.disturbed([]string{"upload", "download"}[i%2], i%3 == 2)
		r.whole("copy")
	}
	r.renew()
	r.must("upload", "list")
	r.must("download", "copy")
	if r.read("copy") != r.read("list") || r.read("list") != r.atServer() {
		t.Error("the fetched file is not the one that was brought last")
	}
}

// A book is where the recipe runs.
type book struct {
	place *place
	dir   string
	took  map[string]time.Duration // for each script, when undisturbed
	cut   int                      // how often a script was ended before it was done
}

// write makes the files of the recipe.
func (r *book) write() {
	t, p := r.place.t, r.place
	t.Helper()
	guide := lab.GuideText(t)
	files := map[string]string{
		// The limit makes a transfer slow enough to be killed midway.
		"curlrc": fmt.Sprintf("user = \"%s:%s\"\nlimit-rate = 1500k\n", p.server.User, p.server.Password),
		// Longer than a lease: for so long others hold back if a script was killed before it had
		// written down who it is.
		"config/locksmith/profiles.toml": fmt.Sprintf("[phonestuff]\nlock = %q\npassword_env = \"BOOK_PASSWORD\"\ntimeout = \"5m\"\n",
			p.address()),
	}
	for _, script := range []string{"upload", "download"} {
		text := regexp.MustCompile(`(?s)cat > /tmp/phone/` + script + ` <<'END'\n(.*?)\nEND\n`).FindStringSubmatch(guide)
		if text == nil {
			t.Fatalf("the guide has no script %s", script)
		}
		site := "ftp://" + p.server.Addr + p.path + "/"
		files[script] = strings.NewReplacer("/tmp/phone/", r.dir+"/", "ftp://127.0.0.1:2121/", site,
			// Paths of commands begin where the log in leads.
			"RNFR ", "RNFR "+p.path[1:]+"/", "RNTO ", "RNTO "+p.path[1:]+"/").Replace(text[1] + "\n")
	}
	for name, text := range files {
		file := filepath.Join(r.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
}

// renew makes a new list, whose last line tells whether it is whole.
func (r *book) renew() {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "+49 30 %06d %016x\n", i, rand.Uint64())
	}
	fmt.Fprintf(&b, "%x\n", sha256.Sum256([]byte(b.String())))
	if err := os.WriteFile(filepath.Join(r.dir, "list"), []byte(b.String()), 0o600); err != nil {
		r.place.t.Fatal(err)
	}
}

// start starts a script on a file, in a process group of its own.
func (r *book) start(script, file string) *lab.Process {
	t := r.place.t
	cmd := exec.Command(filepath.Join(r.dir, script), filepath.Join(r.dir, file))
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+r.dir+"/config", "BOOK_PASSWORD="+cmp.Or(r.place.server.Password, "none"),
		"PATH="+filepath.Dir(lab.Program(t, "cmd/locksmith"))+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return lab.Start(t, cmd)
}

func (r *book) must(script, file string) {
	r.place.t.Helper()
	begun := time.Now()
	p := r.start(script, file)
	<-p.Ended()
	p.Exits(0)
	r.took[script] = time.Since(begun)
}

// disturbed runs a script and kills it, or its server, midway.
func (r *book) disturbed(script string, server bool) {
	begun, took := time.Now(), r.took[script]
	p := r.start(script, map[string]string{"upload": "list", "download": "copy"}[script])
	time.Sleep(took/4 + rand.N(took*3/4)) // the first quarter is for logging in
	if server {
		r.place.server.Restart()
	} else {
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // it may have ended
	}
	if <-p.Ended(); p.Status() != 0 {
		r.cut++
	} else {
		r.took[script] = min(took, time.Since(begun)) // a run that was faster counts
	}
}

// whole makes sure that the file at the server and the fetched one are whole.
func (r *book) whole(name string) {
	r.place.t.Helper()
	for where, text := range map[string]string{"at the server": r.atServer(), "fetched": r.read(name)} {
		lines, _ := strings.CutSuffix(text, "\n")
		end := strings.LastIndexByte(lines, '\n') + 1
		if want := fmt.Sprintf("%x", sha256.Sum256([]byte(lines[:end]))); lines[end:] != want {
			r.place.t.Errorf("%s there are %d bytes, which are not a whole file", where, len(text))
		}
	}
}

func (r *book) atServer() string { return r.readAt(r.place.dir, "phones.csv") }

func (r *book) read(name string) string { return r.readAt(r.dir, name) }

func (r *book) readAt(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.place.t.Error(err)
	}
	return string(text)
}
