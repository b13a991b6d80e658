package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

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
