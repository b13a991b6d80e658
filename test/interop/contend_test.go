package interop

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

const (
	each   = 3 // processes of ours, and of the tool
	rounds = 4 // that each of them goes
	work   = "3ms"
	linger = 500 * time.Millisecond // after the end; in testdata, too
)

// contend lets ours and theirs take the lock in turns, and looks into the book in
// which all wrote when they had it.
func (c *cell) contend() string {
	c.Helper()
	book := filepath.Join(c.TempDir(), "book")
	witness := func(who string) []string { return []string{built.Path(c.T, "witness"), book, who, work} }
	var wg sync.WaitGroup
	for range each {
		wg.Go(func() { c.loopOurs(witness("ours")) })
		wg.Go(func() { c.loopTheirs(witness("theirs")) })
	}
	wg.Wait()
	h := readHistory(c.T, book)
	h.check(c.T)
	ours, theirs := h.turns("ours"), h.turns("theirs")
	if ours != each*rounds || theirs != each*rounds {
		c.Errorf("%d turns of ours and %d of theirs, want %d", ours, theirs, each*rounds)
	}
	return fmt.Sprintf("%d/%d", ours, theirs)
}

func (c *cell) loopOurs(command []string) {
	for range rounds {
		c.turn(c.run(append([]string{"--timeout", waitLimit.String(), c.address(), "--"}, command...)...))
	}
}

// turn runs a locksmith. For a tool that goes by pids it stays for a while after its
// end, as a zombie: TestPIDRace shows what is wrong without.
func (c *cell) turn(cmd *exec.Cmd) {
	var said bytes.Buffer
	cmd.Stderr = &said
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, output) // until it ends
	if c.tool.pids {
		time.Sleep(linger)
	}
	if err := cmd.Wait(); err != nil {
		c.Errorf("ours: %v\n%s", err, &said)
	}
}

func (c *cell) loopTheirs(command []string) {
	cmd := c.tool.command(false, "loop", append([]string{c.path(), strconv.Itoa(rounds)}, command...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.Errorf("theirs: %v\n%s", err, out)
	}
}
