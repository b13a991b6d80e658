package client

import (
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
)

// selfEnv marks a process that Init shall turn into a helper.
const selfEnv = "LOCKSMITH_SELF_HELPER"

// Init lets a program be its own helper, so that it needs no other file. Call
// it first in main, with cli.Main from locksmith/cmd/locksmith/cli:
//
//	func main() {
//		client.Init(cli.Main)
//		…
//	}
//
// In a process started as a helper it does not return.
func Init(main func(args []string) int) {
	if os.Getenv(selfEnv) != "" {
		_ = os.Unsetenv(selfEnv)
		os.Exit(main(os.Args[1:]))
	}
	initCalled.Store(true)
}

var initCalled atomic.Bool

// find returns the helper's command and environment: the option, $LOCKSMITH,
// ourselves after Init, or PATH.
func (c *config) find(lock string) (command, env []string, err error) {
	env = os.Environ()
	if len(c.helper) > 0 {
		return c.helper, env, nil
	}
	if path := os.Getenv("LOCKSMITH"); path != "" {
		return []string{path}, env, nil
	}
	if initCalled.Load() {
		path, err := os.Executable()
		return []string{path}, append(env, selfEnv+"=1"), err
	}
	path, err := exec.LookPath("locksmith")
	if err != nil {
		return nil, nil, fmt.Errorf("%s: acquire: %w: %w; install locksmith on PATH, or set $LOCKSMITH to its path", lock, ErrNoHelper, err)
	}
	return []string{path}, env, nil
}
