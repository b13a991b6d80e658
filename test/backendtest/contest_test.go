//go:build unix

package backendtest

import (
	"os"
	"testing"

	"locksmith/backends/process"
)

// TestWitness: a witness knows who may be inside with whom.
func TestWitness(t *testing.T) {
	self, err := process.Find(os.Getpid())
	MustWork(t, err)
	living, err := process.Find(os.Getppid())
	MustWork(t, err)
	dead := DeadProcess(t)
	us := visit{"exclusive", self, 7}
	sharing := visit{"shared", self, 7}
	for _, c := range []struct {
		name          string
		us            visit
		before, after []string
		ok            bool
	}{
		{"alone", us, nil, nil, true},
		{"with one that has left", us, []string{enters + visit{"exclusive", living, 6}.String(), leaves + visit{"exclusive", living, 6}.String()}, nil, true},
		{"with one that is dead", us, []string{enters + visit{"exclusive", dead, 6}.String()}, nil, true},
		{"with one that is there", us, []string{enters + visit{"exclusive", living, 6}.String()}, nil, false},
		{"with one that shares", us, []string{enters + visit{"shared", living, 7}.String()}, nil, false},
		{"with one that comes", us, nil, []string{enters + visit{"exclusive", living, 8}.String()}, false},
		{"with one that comes and dies", us, nil, []string{enters + visit{"exclusive", dead, 8}.String()}, false},
		{"sharing", sharing, []string{enters + visit{"shared", living, 7}.String()}, nil, true},
		{"sharing with one that comes", sharing, nil, []string{enters + visit{"shared", living, 7}.String()}, true},
		{"sharing with another token", sharing, []string{enters + visit{"shared", living, 6}.String()}, nil, false},
		{"sharing with one who does not", sharing, []string{enters + visit{"exclusive", living, 7}.String()}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := witness{dir: t.TempDir()}
			var log string
			for _, line := range append(append(c.before, enters+c.us.String()), c.after...) {
				log += line + "\n"
			}
			MustWork(t, os.WriteFile(w.log(), []byte(log), 0o600))
			if err := w.check(c.us); (err == nil) != c.ok {
				t.Errorf("check: %v", err)
			}
		})
	}
}

// TestRoom: the kernel's lock tells of processes that are inside at once.
func TestRoom(t *testing.T) {
	w := witness{dir: t.TempDir()}
	for _, c := range []struct {
		first, second string
		ok            bool
	}{
		{"exclusive", "exclusive", false},
		{"exclusive", "shared", false},
		{"shared", "exclusive", false},
		{"shared", "shared", true},
	} {
		room, err := w.occupy(c.first)
		MustWork(t, err)
		other, err := w.occupy(c.second)
		if (err == nil) != c.ok {
			t.Errorf("%s while %s: %v", c.second, c.first, err)
		}
		if err == nil {
			other.Close()
		}
		room.Close()
	}
}
