//go:build linux

package security

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A kind is a way to lock in a directory.
type kind struct{ scheme, options string }

func (k kind) at(path string) string { return k.scheme + ":" + path + k.options }

func (k kind) String() string { return k.scheme + k.options }

var kinds = []kind{{"local", ""}, {"link", ""}, {"link", "?touch=ahead&pids=local"}, {"mkdir", ""}, {"mkdir", "?style=dir"}, {"nfs", ""}}

// attacked are the kinds that find something of somebody else's where they make a name. A lock of
// flock: is the user's file, whose modes and contents are none of ours.
var attacked = append(slices.Clone(kinds), kind{"flock", ""})

// commands are all that look at a lock or want it, once.
func commands(address string) [][]string {
	id := "00112233445566778899aabbccddeeff"
	return [][]string{
		{"status", address},
		{"status", "--json", address},
		{"hold", "--stdin", "watch", "--timeout", "0", "--log-level", "trace", address},
		{"hold", "--stdin", "watch", "--timeout", "0", "--shared", "--log-level", "trace", "--log-format", "json", address},
		{"run", "--timeout", "200ms", "--log-level", "trace", address, "--", "true"},
		{"break", address},
		{"break", "--json", "--force", address, "--id", id},
		{"check", "--token", "1", address},
		{"remove", "--yes", address},
		{"doctor", address},
	}
}

// TestPlantedLock: somebody else has put something in the lock's place. No command follows it,
// changes what it leads to, waits for it, reads it to its end, or shows it to the terminal.
func TestPlantedLock(t *testing.T) {
	for _, k := range attacked {
		for _, p := range k.plants() {
			t.Run(k.String()+" "+p.name, func(t *testing.T) {
				t.Parallel()
				v, dir := newVictim(t), t.TempDir()
				path := filepath.Join(dir, "lock")
				for _, args := range commands(k.at(path)) {
					mustWork(t, os.RemoveAll(path))
					p.at(t, v, path)
					v.mustStay(t, func() { locksmith(t, args...).mustBeSmall(t) })
				}
			})
		}
	}
}

// mustBeSmall makes sure that the command took no more memory than a helper takes otherwise.
func (r result) mustBeSmall(t *testing.T) {
	t.Helper()
	if most := int64(200 << 10); r.memory > most {
		t.Errorf("%v took %d KiB, want %d at most", r.args, r.memory, most)
	}
}

// TestPlantedBeside: the directory of locks is full of what somebody else has put
// there, and reap looks at all of it.
func TestPlantedBeside(t *testing.T) {
	for _, k := range attacked {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			v, dir := newVictim(t), filepath.Join(t.TempDir(), "locks")
			mustWork(t, fullDirectory(v, dir))
			for _, p := range k.plants() {
				if err := p.put(v, filepath.Join(dir, "lock.r."+p.name)); err != nil {
					t.Logf("%s: %v", p.name, err)
				}
			}
			v.mustStay(t, func() {
				address := k.at(filepath.Join(dir, "lock"))
				locksmith(t, "run", address, "--", program(t), "status", address).mustSay(t, 0, "held by")
				for _, args := range [][]string{{"reap", "--max-age", "0"}, {"reap", "--json", "--max-age", "0", "--yes"}, {"doctor"}} {
					locksmith(t, append(args, k.at(dir))...)
					locksmith(t, append(args, address)...)
				}
			})
		})
	}
}
