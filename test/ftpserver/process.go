package ftpserver

import (
	"bytes"
	"context"
	_ "embed" // the script
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"locksmith/test/lab"
)

// A process is a daemon that is a program.
type process struct {
	script  string // that runs argv
	argv    []string
	env     []string
	logFile string

	cmd   *exec.Cmd
	ended chan struct{}
}

func newProcess(s *site, argv ...string) *process {
	return &process{script: inForeground, argv: argv, env: s.environment(), logFile: filepath.Join(s.work, "log")}
}

// confined makes a command the first process of a namespace of process ids, with mounts of its
// own: when that process is killed, so are all its descendants. The first process is a shell,
// because the first process must not change its user: if it did, it would outlive a test that is
// killed.
func confined(env []string, script string, args ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Env = env
	cmd.SysProcAttr, cmd.Err = confinement()
	return cmd
}

// The exit after the program keeps the shell from becoming the program itself.
const inForeground = `"$@"; exit $?`

// namespaces returns nil if this machine lets us confine processes.
var namespaces = sync.OnceValue(func() error {
	return confined(nil, inForeground, "true").Run()
})

func (p *process) start() error {
	log, err := os.OpenFile(p.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := confined(p.env, p.script, p.argv...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	p.cmd, p.ended = cmd, ended
	go func() {
		defer close(ended)
		_ = cmd.Wait() // killed, or its log says why
	}()
	return nil
}

func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return p.cmd != nil
	}
}

func (p *process) stop() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

func (p *process) log() string {
	text, err := os.ReadFile(p.logFile)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// handOver makes a connection a command's input and output.
func handOver(cmd *exec.Cmd, conn *net.TCPConn) error {
	file, err := conn.File()
	if err != nil {
		return err
	}
	defer file.Close()
	cmd.Stdin, cmd.Stdout = file, file
	return cmd.Start()
}

//go:embed fetch
var fetchScript string

const fetchLimit = 5 * time.Minute

// fetched unpacks the servers, and returns where they are.
var fetched = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "locksmith-ftp-servers")
	ctx, cancel := context.WithTimeout(context.Background(), fetchLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", fetchScript, "fetch", dir)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetch: %w: %s", err, bytes.TrimSpace(out))
	}
	return dir, nil
})

// need returns where the programs of all kinds are, unless this machine cannot
// run the kind.
func need(t testing.TB, kind string) string {
	t.Helper()
	if kind == "embedded" {
		return ""
	}
	lab.NotShort(t, "starts "+kind)
	lab.NeedRoot(t)
	if err := namespaces(); err != nil {
		lab.Lacking(t, "no namespaces here: "+err.Error())
	}
	dir, err := fetched()
	if err != nil {
		lab.Lacking(t, "no FTP servers here: "+err.Error())
	}
	return dir
}

// Programs returns where the programs and modules of a kind are, and the environment that they
// need, unless this machine cannot run the kind.
func Programs(t testing.TB, kind string) (dir string, env []string) {
	t.Helper()
	dir = filepath.Join(need(t, kind), kind)
	return dir, (&site{programs: dir}).environment()
}
