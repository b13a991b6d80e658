package process

import "sync"

// spawned are the programs that this process runs for purposes of its own.
var spawned = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// Spawn starts a program by calling start, which returns the pid. Programs are started one at a
// time, so that none inherits what was lent to another. A program of our own, such as an ssh, is
// not a user's command: Spawn notes its pid until Reaped.
func Spawn(own bool, start func() (pid int, err error)) (pid int, err error) {
	spawned.Lock()
	defer spawned.Unlock()
	pid, err = start()
	if err == nil && own {
		spawned.pids[pid] = true
	}
	return pid, err
}

// Reaped notes that a child has been waited for. Its pid may soon belong to another process.
func Reaped(pid int) {
	spawned.Lock()
	defer spawned.Unlock()
	delete(spawned.pids, pid)
}

// Own returns the pids of the programs of our own that may still run.
func Own() map[int]bool {
	spawned.Lock()
	defer spawned.Unlock()
	own := make(map[int]bool, len(spawned.pids))
	for pid := range spawned.pids {
		own[pid] = true
	}
	return own
}
