package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// startEtcd starts a server of our own, with its data in our directory, and returns
// its address, or none where it is not installed.
func (b *bench) startEtcd() (address string, err error) {
	for _, program := range []string{"etcd", "etcdctl"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", nil
		}
	}
	for try := range 3 { // somebody else may take a port that we have found free
		if address, err = b.tryEtcd(fmt.Sprintf("etcd-%d", try)); err == nil {
			return address, nil
		}
	}
	return "", fmt.Errorf("start etcd: %w", err)
}

func (b *bench) tryEtcd(data string) (string, error) {
	clients, err := freeAddress()
	if err != nil {
		return "", err
	}
	peers, err := freeAddress()
	if err != nil {
		return "", err
	}
	peers = "http://" + peers
	p, err := b.start(b.ctx, b.command(b.ctx, []string{"etcd", "--data-dir", b.path(data), "--log-level", "error",
		"--listen-client-urls", "http://" + clients, "--advertise-client-urls", "http://" + clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=" + peers}))
	if err != nil {
		return "", err
	}
	return clients, b.untilHealthy(p, clients)
}

// untilHealthy waits until the server answers.
func (b *bench) untilHealthy(server *process, address string) error {
	ctx, cancel := context.WithTimeoutCause(b.ctx, limit, fmt.Errorf("it does not answer for %v", limit))
	defer cancel()
	for {
		if b.works(ctx, []string{"etcdctl", "--endpoints", address, "endpoint", "health"}) {
			return nil
		}
		select {
		case <-server.done:
			return server.err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// freeAddress is one that nobody listened on a moment ago.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// An ftpServer is a server of our own, with its files in our directory.
type ftpServer struct {
	*process
	questions io.WriteCloser
	answers   *bufio.Reader
	port      int
}

const python = "/usr/bin/python3" // Debian's own has Debian's modules

// startFTP returns nil where the server is not installed.
func (b *bench) startFTP(ctx context.Context) (*ftpServer, error) {
	if !b.works(ctx, []string{python, "-W", "ignore", "-c", "import pyftpdlib.servers"}) {
		return nil, nil
	}
	root := b.path("ftp")
	if err := os.Mkdir(root, 0o700); err != nil {
		return nil, err
	}
	cmd := b.command(ctx, []string{python, "-W", "ignore", b.script("ftpd.py"), root})
	questions, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = out
	s := &ftpServer{questions: questions, answers: bufio.NewReader(answers)}
	s.process, err = b.start(ctx, cmd)
	_ = out.Close()
	if err != nil {
		_ = answers.Close()
		return nil, err
	}
	s.port, err = s.number()
	return s, err
}

// commands is how many it has got so far.
func (s *ftpServer) commands() (int, error) {
	if _, err := io.WriteString(s.questions, "\n"); err != nil {
		return 0, err
	}
	return s.number()
}

func (s *ftpServer) number() (int, error) {
	line, err := s.answers.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("the FTP server: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(line))
}

func (s *ftpServer) stop() {
	_ = s.questions.Close()
	_ = s.wait()
}
