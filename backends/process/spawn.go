package process

import "sync"

// spawned are the programs that this process runs for ends of its own.
var spawned = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// Spawn starts a program, which start does and returns its pid. One is started at a time,
// so that none inherits what was lent to another. What is our own, such as an ssh, is
// nobody's command: until Reaped it is known as such.
func Spawn(own bool, start func() (pid int, err error)) (pid int, err error) {
	spawned.Lock()
	defer spawned.Unlock()
	pid, err = start()
	if err == nil && own {
		spawned.pids[pid] = true
	}
	return pid, err
}

// Reaped notes that a child has been waited for: its pid may soon be another's.
func Reaped(pid int) {
	spawned.Lock()
	defer spawned.Unlock()
	delete(spawned.pids, pid)
}

// Own returns the programs of our own that may still run, by their pids.
func Own() map[int]bool {
	spawned.Lock()
	defer spawned.Unlock()
	own := make(map[int]bool, len(spawned.pids))
	for pid := range spawned.pids {
		own[pid] = true
	}
	return own
}
