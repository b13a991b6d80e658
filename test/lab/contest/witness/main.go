//go:build linux

// Command witness is what a lock guards in a contest. It writes down in LOG when it began and
// ended, and whether it met another witness:
//
//	witness LOG exclusive|shared TIME [COMMAND…]
//
// It works for TIME, and then runs COMMAND, which dies with it.
//
// In the log its name is the pid of its parent, which has the lock for it. If WITNESS_NAME is a
// number, that is its name instead, for hosts may have the same numbers for their processes; and
// if it is then told to end (SIGTERM) while it works, it writes that it has ended.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
)

func main() {
	if err := attend(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "witness:", err)
		os.Exit(1)
	}
}

func attend(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: witness LOG MODE TIME [COMMAND…]")
	}
	work, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	log, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	token := os.Getenv("LOCKSMITH_TOKEN")
	if token == "" {
		token = "0"
	}
	helper := os.Getppid() // it may be killed, and we with it
	told := make(chan os.Signal, 1)
	if name, err := strconv.Atoi(os.Getenv("WITNESS_NAME")); err == nil {
		helper = name
		signal.Notify(told, syscall.SIGTERM)
	}
	tell := func(word string) error {
		// One write appends the whole line at once, whoever else writes.
		_, err := fmt.Fprintf(log, "%s %d %d %s %s\n", word, clock.Boot{}.Now(), helper, args[1], token)
		return err
	}
	if err := tell("take"); err != nil {
		return err
	}
	if err := meet(log, args[1], tell); err != nil {
		return err
	}
	select {
	case <-time.After(work):
	case <-told:
		return errors.Join(errors.New("it was told to end"), tell("give"))
	}
	err = perform(args[3:])
	return errors.Join(err, tell("give"))
}

// perform runs a command that dies with us.
func perform(argv []string) error {
	if len(argv) == 0 {
		return nil
	}
	runtime.LockOSThread() // the command would die with the thread that started it
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd.Run()
}

// meet notices whether another witness works at the same time. It locks the log with flock(2);
// the kernel frees that lock when a witness dies.
func meet(log *os.File, mode string, tell func(string) error) error {
	how := unix.LOCK_EX
	if mode == "shared" {
		how = unix.LOCK_SH
	}
	if err := unix.Flock(int(log.Fd()), how|unix.LOCK_NB); err != nil {
		return tell("met")
	}
	return nil
}
