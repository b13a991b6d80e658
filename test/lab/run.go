package lab

import (
	"os/exec"
)

// Run runs a command to its end, with /dev/null as its input. It returns the exit status, or -n
// if signal n ended it, and what came on the outputs that the command leaves open.
func Run(t T, cmd *exec.Cmd) (status int, said string) {
	t.Helper()
	if cmd.Stdin == nil {
		cmd.Stdin = Null(t)
	}
	out := file(t)
	if cmd.Stdout == nil {
		cmd.Stdout = out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = out
	}
	p := Start(t, cmd)
	p.stderr = out
	return p.Status(), p.Stderr()
}
