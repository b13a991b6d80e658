// Package bare is the least that a Go program does to run a command and exit as it did.
// It links next to nothing.
package bare

import (
	"io"
	"os"
	"os/exec"
)

// Main runs the command line's command and exits. Without one it says OK and waits for
// the end of its standard input: the least that an idle Go program needs.
func Main() {
	if len(os.Args) == 1 {
		os.Stdout.WriteString("OK\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	state, err := run(os.Args[1:])
	if err != nil {
		os.Stderr.WriteString(os.Args[0] + ": " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(state.ExitCode())
}

func run(argv []string) (*os.ProcessState, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	p, err := os.StartProcess(path, argv, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return nil, err
	}
	return p.Wait()
}
