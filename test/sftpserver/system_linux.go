package sftpserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"locksmith/test/lab"
)

func confinement() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:   syscall.CLONE_NEWPID,
		Unshareflags: syscall.CLONE_NEWNS, // and then its mounts do not propagate
		Pdeathsig:    syscall.SIGKILL,
	}
}

// Children returns the processes that a process has started and that have not ended.
func Children(pid int) (all []int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range threads {
		text, _ := os.ReadFile(file) // it may have ended
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// below returns all descendants of a process, parents before their children.
func below(pid int) []int {
	all := Children(pid)
	for i := 0; i < len(all); i++ {
		all = append(all, Children(all[i])...)
	}
	return all
}

// Sessions are the processes of all sessions. A server may have none but its own.
func (s *Server) Sessions() (all []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.command == nil {
		return nil
	}
	for _, daemon := range Children(s.command.Process.Pid) {
		all = append(all, below(daemon)...)
	}
	return all
}

// Pause stops the server and all its sessions with SIGSTOP, until Resume.
func (s *Server) Pause() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for stopped := map[int]bool{}; ; {
		before := len(stopped)
		for _, pid := range below(s.command.Process.Pid) {
			if !stopped[pid] {
				lab.Stop(s.t, pid)
				stopped[pid] = true
			}
		}
		if len(stopped) == before {
			return
		}
	}
}

// Resume lets all go on.
func (s *Server) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pid := range below(s.command.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
	}
}
