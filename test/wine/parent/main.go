// Command parent takes a lock as a program does whose helper has a lock for it, and
// then goes away in one of several ways:
//
//	parent dies|unread|closes LOCKSMITH LOCK FILE
//
// FILE is made when the lock is held.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "parent:", err)
		os.Exit(1)
	}
}

func run(how, locksmith, lock, held string) error {
	cmd := exec.Command(locksmith, "hold", "--stdin", "watch", lock)
	cmd.Stderr = os.Stderr
	var in io.Closer
	var out io.ReadCloser
	var err error
	switch how {
	case "dies": // no pipe tells of that
		cmd.Stdout, err = os.Create(held)
	case "unread":
		out, err = cmd.StdoutPipe()
	case "closes":
		out, err = cmd.StdoutPipe()
		if err == nil {
			in, err = cmd.StdinPipe()
		}
	}
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if how == "dies" {
		time.Sleep(time.Hour) // until it is killed
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "OK ") {
		return fmt.Errorf("%q: %v", line, err)
	}
	if err := os.WriteFile(held, []byte(line), 0o600); err != nil {
		return err
	}
	if how == "unread" {
		_ = out.Close()
	} else {
		_ = in.Close()
	}
	return cmd.Wait()
}
