//go:build unix

// Package cli tells stories of the command line, one in each file of testdata, and tests what
// needs a terminal.
package cli

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"locksmith/cmd/locksmith/cli"
	"locksmith/test/lab"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "locksmith" {
		lab.Parallel(16) // they wait most of the time
		// Under nohup, or in the background of a script, our programs would inherit that these are ignored.
		for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
			if signal.Ignored(s) {
				signal.Notify(make(chan os.Signal, 1), s)
			}
		}
	}
	// Spare each command the second that the race detector waits at its exit.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	testscript.Main(m, map[string]func(){
		"locksmith": func() { os.Exit(cli.Main(os.Args[1:])) },
		"refusing":  refusing,
	})
}

func TestStories(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:   "testdata",
		Setup: setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"start":  start,
			"letgo":  letGo,
			"ended":  ended,
			"signal": sendSignal,
			"await":  await,
			"gone":   gone,
			"dead":   dead,
			"json":   jsonIs,
			"pause":  pause,

			"alerted": alerted(lab.GuideText(t)),
		},
		Condition: condition,
	})
}
