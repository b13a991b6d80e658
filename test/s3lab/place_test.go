//go:build unix

package s3lab

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/s3"
	"locksmith/test/s3server"
)

// A place is the prefix of one lock at a store, and the way there.
type place struct {
	*store
	endpoint string
	prefix   string
}

// schemes has the only scheme that is tested here.
var schemes = []backend.Scheme{{Name: "s3", Port: "443"}}

// open opens the lock as a process of its own would.
func (p place) open(t *testing.T) backend.Backend {
	t.Helper()
	a, err := backend.ParseAddress(p.address(), schemes)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s3.Open(a, backend.Access{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (p place) address() string { return s3server.Address(p.endpoint, p.prefix) }

// keys returns the keys of all the lock's objects.
func (p place) keys(t *testing.T) []string { return p.servers[0].Keys(t, p.prefix+"/") }

// maxGenerations is how many numbers stay when a lock is free.
const maxGenerations = 4

// leftovers lists what should not be left of a free lock: everything except its newest numbers.
func (p place) leftovers(t *testing.T) (left []string) {
	t.Helper()
	all := p.keys(t)
	for _, key := range all {
		if !strings.HasPrefix(key, "g.") {
			left = append(left, key)
		}
	}
	if len(all)-len(left) > maxGenerations {
		return all
	}
	return left
}

// removeReservations destroys the lock under its holder.
func (p place) removeReservations(t *testing.T) {
	t.Helper()
	for _, key := range p.keys(t) {
		if !strings.HasPrefix(key, "g.") {
			p.servers[0].Remove(t, p.prefix+"/"+key)
		}
	}
}

// under returns a function that makes a command run under the lock.
func (p place) under(t *testing.T) func(flags []string, command ...string) *exec.Cmd {
	return func(flags []string, command ...string) *exec.Cmd {
		t.Helper()
		return locksmith(t, slices.Concat([]string{"run"}, flags, []string{p.address(), "--"}, command)...)
	}
}
