//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"locksmith/test/lab"
)

// likeFlock are stories in which run must do exactly what flock(1) does. In their commands RUN
// stands for either. Each story returns what the shell said.
var likeFlock = []struct {
	name  string
	story func(t *testing.T, sh *prompt) string
}{
	{"exit 0", types("RUN true; echo =$?.")},
	{"exit 3", types("RUN sh -c 'exit 3'; echo =$?.")},
	{"killed by TERM", types("RUN sh -c 'kill -TERM $$'; echo =$?.")},
	{"killed by KILL", types("RUN sh -c 'kill -KILL $$'; echo =$?.")},
	{"killed by SEGV", types("RUN sh -c 'kill -SEGV $$'; echo =$?.")},
	{"interrupted alone", types("RUN sh -c 'kill -INT $$'; echo =$?.")},
	{"nobody reads", types("RUN yes | head -n 1; echo ${PIPESTATUS[0]}=.")},
	{"standard streams", types(`echo in | RUN sh -c 'cat; echo err >&2' 2>err | cat; cat err; echo =.`)},
	{"more descriptors", types(`echo three >in; RUN sh -c 'cat <&3; echo four >&4' 3<in 4>out; cat out; echo =.`)},
	{"arguments of any bytes", types(`RUN printf '%s|' $'a\xff\x01b' '' $'n\nl' -x -- | od -An -c; echo =.`)},
	{"environment of any bytes", types(`X=$'\xff\n' Y= RUN sh -c 'printf "%s|%s" "$X" "${Y-unset}"' | od -An -c; echo =.`)},
	{"limits and directory", types(`umask 027; ulimit -S -n 77; cd /tmp; RUN sh -c 'umask; ulimit -S -n; ulimit -H -n; pwd; grep SigBlk /proc/self/status'; echo =.`)},
	{"a directory on PATH by a relative name", types("printf '#!/bin/sh\\necho mine\\n' >prog; chmod +x prog; PATH=.:$PATH RUN prog; echo =$?.")},
	{"Ctrl-Z ignored", types("trap '' TSTP; RUN sh -c 'grep SigIgn /proc/self/status | tail -c 9 | cut -c1-4; kill -TSTP 0; exit 4'; echo =$?.")},
	{"nohup", types("nohup RUN sh -c 'kill -HUP $PPID $$; echo lives' </dev/null | cat; echo =.")},
	{"script in the background", types(`printf 'RUN true & wait $!; echo $?\nRUN sh -c "exit 6" & wait $!; echo $?\n' >script; sh script; echo =.`)},

	{"Ctrl-C ends a loop", func(t *testing.T, sh *prompt) string {
		sh.keys(t, "for i in 1 2; do RUN sh -c 'echo ready; exec sleep 300'; done\n")
		sh.until(t, "ready")
		sh.keys(t, ctrlC)
		return sh.status(t)
	}},
	{"Ctrl-C mends the terminal", func(t *testing.T, sh *prompt) string {
		sh.keys(t, "stty echo; RUN sh -c 'stty -echo; echo ready; exec sleep 300'\n")
		sh.until(t, "\nready")
		sh.keys(t, ctrlC)
		sh.keys(t, "stty -a | grep -wo -e -*echo; stty -echo; echo e''nd\n")
		// bash may echo what we type before or after it mends the modes, so the echo does not
		// count.
		return fmt.Sprint(strings.Contains(sh.until(t, "end"), "\necho\r\n"))
	}},
	{"killed with the terminal's modes changed", types("stty echo; RUN sh -c 'stty -echo; kill -KILL $$'; stty -a | grep -wo -e -*echo; echo =.")},
	{`Ctrl-\`, func(t *testing.T, sh *prompt) string {
		sh.keys(t, "RUN sh -c 'echo ready; exec sleep 300'\n")
		sh.until(t, "ready")
		sh.keys(t, ctrlBackslash)
		return strings.ReplaceAll(sh.status(t), "Quit\r\n", "") // the name of the signal that killed it
	}},
	{"Ctrl-Z, fg", func(t *testing.T, sh *prompt) string {
		said := stopped(t, sh, ":")
		sh.keys(t, "echo >go; fg; echo =$?.\n")
		return said + sh.until(t, `=\d+\.`)
	}},
	{"Ctrl-Z, bg", func(t *testing.T, sh *prompt) string {
		said := stopped(t, sh, ":")
		sh.keys(t, "echo >go; bg; wait %1; echo =$?.\n")
		return said + sh.until(t, `=\d+\.`)
	}},
	{"Ctrl-Z twice", func(t *testing.T, sh *prompt) string {
		said := stopped(t, sh, "read x; echo again; read x <&3")
		sh.keys(t, "echo >go; fg\n")
		sh.until(t, "RUN") // bash says so before the command has the terminal
		sh.keys(t, "word\n")
		sh.until(t, "\nagain") // which it had when it read this
		sh.keys(t, ctrlZ)
		said += sh.status(t)
		sh.keys(t, "echo >go; fg; echo =$?.\n")
		return said + sh.until(t, `=\d+\.`)
	}},
	{"Ctrl-Z, kill", func(t *testing.T, sh *prompt) string {
		said := stopped(t, sh, ":")
		sh.keys(t, "kill %1; while kill -0 %1 2>j; do sleep 0.05; done; echo go''ne\n")
		sh.until(t, "gone")
		return said
	}},
	{"reads in the background", func(t *testing.T, sh *prompt) string {
		sh.keys(t, "RUN sh -c 'read x; echo read $x; exit 4' &\n")
		untilStopped(t, sh)
		sh.keys(t, "fg; echo =$?.\n")
		sh.until(t, "RUN")
		sh.keys(t, "word\n")
		return sh.until(t, `=\d+\.`)
	}},
	{"writes in the background", func(t *testing.T, sh *prompt) string {
		sh.keys(t, "stty tostop; RUN sh -c 'echo written; exit 4' &\n")
		untilStopped(t, sh)
		sh.keys(t, "fg; echo =$?.\n")
		return sh.until(t, `=\d+\.`)
	}},
	{"window size", func(t *testing.T, sh *prompt) string {
		sh.keys(t, "RUN bash -c 'trap \"stty size; exit 3\" WINCH; echo ready; while :; do sleep 0.05; done'; echo =$?.\n")
		sh.until(t, "ready")
		if err := pty.Setsize(sh.tty, &pty.Winsize{Rows: 33, Cols: 99}); err != nil {
			t.Fatal(err)
		}
		return sh.until(t, `=\d+\.`)
	}},
	{"a shell under it", func(t *testing.T, sh *prompt) string {
		sh.keys(t, "RUN bash --norc --noprofile --noediting -i\n")
		sh.keys(t, "sh -c 'echo ready; exec sleep 300'\n")
		sh.until(t, "ready")
		sh.keys(t, ctrlZ)
		said := sh.status(t)
		sh.keys(t, "kill -9 %1; wait -f %1; echo kill''ed\n")
		sh.until(t, "killed\r\n")
		sh.keys(t, "exit 6\n")
		return said + sh.status(t)
	}},
}

// needsParent are stories of the process between the shell and the command. If run becomes the
// command by -F, as flock does, that process is the shell itself.
var needsParent = map[string]bool{"interrupted alone": true, "nohup": true}

// types is a story of one line that says at its end what came of it.
func types(line string) func(*testing.T, *prompt) string {
	return func(t *testing.T, sh *prompt) string {
		sh.keys(t, line+"\n")
		return sh.until(t, `=\d*\.`)
	}
}

// stopped is a command that Ctrl-Z has stopped. It goes on with what comes next once it is continued
// and something was written to the pipe go.
// It starts no program: sh does so by vfork, and if Ctrl-Z stops the child before its exec, the
// shell waits for the child in the kernel, does not stop itself, and bash sees nothing.
func stopped(t *testing.T, sh *prompt, next string) string {
	t.Helper()
	sh.keys(t, "mkfifo go; RUN sh -c 'exec 3<>go; echo ready; read x <&3; "+next+"; echo done; exit 4'\n")
	sh.until(t, "ready")
	sh.keys(t, ctrlZ)
	return sh.status(t)
}

func untilStopped(t *testing.T, sh *prompt) {
	t.Helper()
	sh.keys(t, "until jobs -s >j; test -s j; do sleep 0.05; done; echo sto''pped\n")
	sh.until(t, "stopped")
}

// TestLikeFlock: what works with flock(1), in scripts and at a terminal, works with run. It is
// tried with local:; with flock:; and where run becomes the command, as with flock -F.
func TestLikeFlock(t *testing.T) {
	lab.NotShort(t, "starts dozens of shells")
	t.Parallel()
	lab.NeedProgram(t, "flock")
	bin := t.TempDir()
	for name, text := range map[string]string{
		"flock":  "#!/bin/sh\nexec flock \"$RUN_LOCK\" \"$@\"\n",
		"nofork": "#!/bin/sh\nexec flock -F \"$RUN_LOCK\" \"$@\"\n",
		"local":  "#!/bin/sh\nexec locksmith run \"local:$RUN_LOCK\" -- \"$@\"\n",
		"become": "#!/bin/sh\nexec locksmith run -F \"flock:$RUN_LOCK\" -- \"$@\"\n",
		"stay":   "#!/bin/sh\nexec locksmith run \"flock:$RUN_LOCK\" -- \"$@\"\n",
	} {
		if err := os.MkdirAll(filepath.Join(bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, name, "RUN"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range likeFlock {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			said := map[string]string{}
			all := []struct{ name, like string }{{name: "flock"}, {name: "nofork"}, {"local", "flock"}, {"become", "nofork"}, {"stay", "flock"}}
			for _, who := range all {
				if needsParent[s.name] && (who.name == "nofork" || who.name == "become") {
					continue
				}
				sh := atPrompt(t)
				sh.keys(t, "PATH="+filepath.Join(bin, who.name)+":$PATH; export RUN_LOCK="+sh.dir+"/lock\n")
				t.Log(who.name)
				said[who.name] = s.story(t, sh)
				if who.like != "" && said[who.name] != said[who.like] {
					t.Errorf("the same commands end differently\nunder %s: %q\nunder %s: %q", who.like, said[who.like], who.name, said[who.name])
				}
			}
		})
	}
}
