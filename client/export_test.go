package client

// Idle returns how many helpers wait for work.
func (p *Pool) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// PIDs returns the pids of the helpers that wait for work.
func (p *Pool) PIDs() (all []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.idle {
		all = append(all, w.process.cmd.Process.Pid)
	}
	return all
}

// NotStarted is the error of a helper that could not be started.
var NotStarted = notStarted
