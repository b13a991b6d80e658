//go:build linux

package interop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// combinations are all combinations of flock(1)'s options, each with its values, and of the forms of its
// command line, but for those that would wait for ever, because somebody has the lock as held says. Without
// -long it is each seventh: no option has seven values, so each pair of values meets.
func combinations(held string) (lines []string) {
	n := 0
	for _, mode := range []string{"", "-s", "-e", "-u"} {
		for _, wait := range []string{"", "-n", "-w 0.02", "-n -w 9"} {
			if free := held == "" || mode == "-u" || held == "-s" && mode == "-s"; wait == "" && !free {
				continue // it would wait for ever
			}
			for _, close := range []string{"", "-o", "-F"} {
				for _, told := range []string{"", "-E 3", "--verbose -E 0"} {
					for _, form := range []string{"FLOCK %s lock sh -c 'exit 7'", "FLOCK %s lock -c 'exit 7'", "FLOCK %s 9 9>>lock"} {
						if n++; !*long && n%7 > 0 {
							continue
						}
						lines = append(lines, fmt.Sprintf(form, strings.Join([]string{mode, wait, close, told}, " ")))
					}
				}
			}
		}
	}
	return lines
}

// words are command lines that flock(1) understands or refuses. They do not wait.
var words = strings.Split(strings.TrimSpace(`
FLOCK
FLOCK -n
FLOCK lock
FLOCK 77
FLOCK -n 9 9<lock
FLOCK -1
FLOCK -- -1
FLOCK 9x
FLOCK -n nowhere/lock true
FLOCK -n '' true
FLOCK -n lock/below true
FLOCK -n loop true
FLOCK -n . true
FLOCK -n directory true; FLOCK -n directory/ true; FLOCK -n directory/.. true
FLOCK -n link/../beside true; rm elsewhere/beside
cd directory; FLOCK -n ../beside true; rm ../beside
FLOCK -n 'a %41? #b' true; rm 'a %41? #b'
FLOCK -n dangling true; rm elsewhere/made
FLOCK -n lock nowhere
FLOCK -n lock ./lock
FLOCK -n lock ./directory
FLOCK -n lock nowhere/program
FLOCK -n lock ./plain one 'two  three'
FLOCK -n -F lock ./plain one 'two  three'
FLOCK -n -F lock nowhere
FLOCK -n lock ''
FLOCK -n lock -c
FLOCK -n lock -c 'exit 4' more
FLOCK -n lock --command 'exit 4'
FLOCK -n lock -n true
FLOCK -n lock -- true
FLOCK -n -- lock true
FLOCK -c 'exit 4' lock
SHELL=/nowhere FLOCK -n lock -c true
SHELL= FLOCK -n lock -c 'exit 4'
FLOCK -nE3 lock true
FLOCK -snE 3 lock true
FLOCK -esxn lock true
FLOCK -n -s -x lock true
FLOCK -n -x -s lock true
FLOCK -n --exclusive --conflict-exit-code 5 lock true
FLOCK --nonblock --shared --conflict-exit-code=5 lock true
FLOCK --nonblocking --close lock true
FLOCK --nb --no-fork --verbose lock true
FLOCK --timeout 0 lock true
FLOCK --wait=0.01 --verbose lock true
FLOCK -w.01 lock true
FLOCK -w 1e-2 lock true
FLOCK -w 0.0000001 --verbose lock true
FLOCK -w 0.01 -w 0 --verbose lock true
FLOCK -w 0 -w 0.01 --verbose lock true
FLOCK -w 0.01 -n --verbose 9 9>>lock
FLOCK -w 0.01 --verbose 9 9>>lock
FLOCK --unlock 9 9>>lock
FLOCK -w
FLOCK -n --wait
FLOCK -w '' lock true
FLOCK -w x lock true
FLOCK -w 1x lock true
FLOCK -w -n lock true
FLOCK -E
FLOCK -E '' lock true
FLOCK -E x lock true
FLOCK -E 256 lock true
FLOCK -E -1 lock true
FLOCK -nE 255 lock true
FLOCK -z lock true
FLOCK -nz lock true
FLOCK -v lock true
FLOCK --bogus lock true
FLOCK -F -o lock true
FLOCK --close --no-fork
FLOCK -n lock sh -c 'kill -9 $$'
FLOCK -n lock sh -c 'kill -TERM $$'
FLOCK -n -F lock sh -c 'kill -9 $$'
FLOCK -n lock sh -c 'exit 255'
(FLOCK -n 9 && FLOCK -n lock true) 9>>lock
(FLOCK -n 9 && FLOCK -w 0.01 8) 9>>lock 8>>lock
(FLOCK -n 9 && FLOCK -w 0.01 9) 9>>lock
(FLOCK -n 9 && FLOCK -ns 9 && FLOCK -ns lock true) 9>>lock
(FLOCK -ns 9 && FLOCK -n -s lock true) 9>>lock
(FLOCK -n 9 && FLOCK -u 9 && FLOCK -n lock true) 9>>lock
(FLOCK -n 9; sh -c 'FLOCK -n lock true') 9>>lock
`), "\n")

// survivors are stories of what keeps the lock when flock or its command has ended. PROBE is 1 then.
var survivors = []string{
	leaves("", ":"), leaves("-o", ":"), leaves("-F", ":"),
	leaves("", "kill -9 $$"), leaves("-o", "kill -9 $$"), leaves("-F", "kill -9 $$"),
	leaves("-s", ":"), leaves("-u", ":"),
	`(FLOCK 9; sleep 300 >&- 2>&- & echo $! >left) 9>>lock; PROBE; kill $(cat left)`,
	// A shell has forked before it closes 9.
	`(FLOCK 9; sleep 300 >&- 2>&- 9>&- & echo $! >left; while test -e /proc/$!/fd/9; do :; done) 9>>lock; PROBE; kill $(cat left)`,
	`exec 9>>lock; FLOCK -w 5 9; PROBE; exec 9>&-; PROBE`,
	`exec 9>>lock; FLOCK 9; PROBE; FLOCK -u 9; PROBE`,
	`FLOCK lock sh -c 'rm lock; exit 3'`,
	`FLOCK -o lock sh -c 'mv lock lock.old; exit 3'`,
	`FLOCK lock sh -c 'exec 9>lock; PROBE'`,
	`FLOCK lock sh -c 'for fd in 3 4 5 6 7 8 9; do eval "exec $fd>&-"; done; PROBE'`,
}

func leaves(options, then string) string {
	return `FLOCK ` + options + ` lock sh -c 'sleep 300 >/dev/null 2>&1 & echo $! >left; ` + then + `'; echo $? >&2; PROBE; kill $(cat left)`
}

// TestFlockWords: locksmith flock, and a link to locksmith called flock, do what flock(1) does on the same
// file: what they say on standard error, their exit statuses, and who keeps the lock.
func TestFlockWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held  string // what flock holds the lock with meanwhile, as in "-s"
		lines []string
	}{
		"free": {"", combinations("")}, "shared": {"-s", combinations("-s")}, "held": {"-x", combinations("-x")},
		"words": {"", words}, "words, shared": {"-s", words}, "survivors": {"", survivors},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWords(t, c.held)
			theirs := w.say(t, "flock", c.lines)
			w.compare(t, "locksmith flock", c.lines, theirs)
			if name == "words" {
				w.compare(t, w.dir+"/called/flock", c.lines[:12], theirs)
			}
		})
	}
}

// flockWords is a directory with a lock for command lines.
type flockWords struct{ dir string }

func newWords(t *testing.T, held string) flockWords {
	t.Helper()
	lab.NotShort(t, "it starts thousands of programs")
	lab.NeedProgram(t, "flock")
	w := flockWords{t.TempDir()}
	locksmith := lab.Program(t, "cmd/locksmith")
	if out, err := w.shell(`touch lock; mkdir bin called directory elsewhere elsewhere/inner; ln -s elsewhere/inner link; ln -s loop loop
		ln -s elsewhere/made dangling; printf 'printf "%s|" "$@" >&2\n' >plain; chmod +x plain
		ln -s "$0" called/flock; ln -s "$0" bin/locksmith`, locksmith).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if held != "" {
		holder{lab.Start(t, w.shell("exec flock "+held+` lock sh -c "echo held; exec cat"`))}.held()
	}
	return w
}

func (w flockWords) shell(script string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", script}, args...)...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PATH="+filepath.Join(w.dir, "bin")+":"+os.Getenv("PATH"))
	return cmd
}

// compare makes sure that one of ours says to the lines what flock said. One that says that it had no
// answer in time, as on a busy machine, is asked again.
func (w flockWords) compare(t *testing.T, ours string, lines, theirs []string) {
	t.Helper()
	for i, said := range w.say(t, ours, lines) {
		for tries := 0; tries < 5 && strings.Contains(said, "no answer within"); tries++ {
			said = w.say(t, ours, lines[i:i+1])[0]
		}
		if said != theirs[i] {
			t.Errorf("%s\nflock says: %s\n%s says: %s", lines[i], theirs[i], ours, said)
		}
	}
}

// say runs the lines one after the other, and returns what each said on standard error, and its status. In
// what ours says it is called as flock is.
func (w flockWords) say(t *testing.T, program string, lines []string) []string {
	t.Helper()
	const end = `-- end of line --`
	script := ""
	for _, line := range lines {
		line = strings.NewReplacer("FLOCK", program, "PROBE", "{ flock -n lock true; echo lock $? >&2; }").Replace(line)
		script += "(" + line + ") </dev/null >out; echo status $?; echo '" + end + "'\n"
	}
	status, out := lab.Run(t, w.shell(script))
	said := strings.ReplaceAll("\n"+out, "\nlocksmith: ", "\nflock: ")
	answers := strings.Split(strings.ReplaceAll(said, "'locksmith flock --help'", "'flock --help'"), end+"\n")
	if status != 0 || len(answers) != len(lines)+1 {
		t.Fatalf("%s: exit status %d, %d answers to %d lines\n%s", program, status, len(answers)-1, len(lines), out)
	}
	answers[0] = strings.TrimPrefix(answers[0], "\n")
	return answers[:len(lines)]
}
