package client

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
)

// selfEnv marks a process that Init shall turn into a helper.
const selfEnv = "LOCKSMITH_SELF_HELPER"

// askpassEnv marks a process that an ssh started to ask our helper for a password.
const askpassEnv = "LOCKSMITH_ASKPASS"

// Init lets a program be its own helper, so that it needs no other file. Call it first in main,
// with cli.Main from locksmith/cmd/locksmith/cli:
//
//	func main() {
//		client.Init(cli.Main)
//		…
//	}
//
// In a process started as a helper, Init does not return. What runs before main runs in the
// helper, too: the variables and functions init of every package that the program imports. They
// must not write to standard output, whose first line is the helper's answer, nor read standard
// input, nor end the process, nor start what matters, such as a server or a connection. Their
// time is added to every lock. On Linux the helper is the program that runs, whatever has
// replaced its file since.
func Init(main func(args []string) int) {
	if os.Getenv(askpassEnv) != "" && len(os.Args) == 2 { // an ssh of our helper asks for a password
		os.Exit(main(os.Args[1:]))
	}
	if os.Getenv(selfEnv) != "" {
		_ = os.Unsetenv(selfEnv)
		// On Linux ps and the like would call it "exe" (proc_pid_comm(5)).
		_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0)
		os.Exit(main(os.Args[1:]))
	}
	initCalled.Store(true)
}

var initCalled atomic.Bool

// find returns the helper's command, without the arguments of hold. It is that of the option
// Helper, of $LOCKSMITH, this program after Init, or locksmith on PATH.
func (c *config) find(lock string) (*exec.Cmd, error) {
	if len(c.helper) > 0 {
		return exec.Command(c.helper[0], c.helper[1:]...), nil
	}
	if path := os.Getenv("LOCKSMITH"); path != "" {
		return exec.Command(path), nil
	}
	if c.isItself() {
		return itself()
	}
	path, err := exec.LookPath("locksmith")
	if err != nil {
		return nil, fmt.Errorf("%s: acquire: %w: %w; install locksmith on PATH, or set $LOCKSMITH to its path", lock, ErrNoHelper, err)
	}
	return exec.Command(path), nil
}

// isItself reports whether the helper is this program.
func (c *config) isItself() bool {
	return len(c.helper) == 0 && os.Getenv("LOCKSMITH") == "" && initCalled.Load()
}

// running is the program that this process runs, where the kernel tells. The program's path may
// lead to another program after a deploy, or to none.
const running = "/proc/self/exe"

// itself is the command that starts this program as its own helper.
func itself() (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path)
	if _, err := os.Stat(running); err == nil && runtime.GOOS == "linux" {
		cmd.Path = running
	}
	cmd.Env = append(os.Environ(), selfEnv+"=1")
	return cmd, nil
}
