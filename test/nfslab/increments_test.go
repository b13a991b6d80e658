//go:build linux

package nfslab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	workers  = 8
	lasts    = 5 * time.Second
	counting = `read n <"$C"; echo $((n+1)) >"$C"`
)

// repeated makes a loop of a command for the shell: until a file is there it is
// done again and again, and in the end the loop tells how often.
func repeated(body string) string {
	return `i=0; until [ -e "$S" ]; do ` + body + `; i=$((i+1)); done; echo $i`
}

const napping = `until mkdir "$L" 2>/dev/null; do sleep 0.05; done; `

// benchLooper has one of the benchmark's loopers take locks of the backend. It finds the
// counter and what stops it in a directory of its own, and writes a line for each time.
const benchLooper = `d=$(mktemp -d); ln -s "$C" "$d/counter"; ln -s "$S" "$d/stop"; : >"$d/log"
looper backend "nfs:$L" "$d" "$$" </dev/null >/dev/null && wc -l <"$d/log"; rm -r "$d"`

// loops increment the counter $C under the lock $L until the file $S is there,
// and tell how often they did. In the first two each increment is a command of
// its own, and most of the time goes into starting those.
var loops = []struct{ name, program string }{
	{"commands", repeated(`locksmith run --lease 60s "nfs:$L" -- sh -c '` + counting + `'`)},
	{"mkdir_commands", repeated(napping + `sh -c '` + counting + `'; rmdir "$L"`)},
	{"looping", benchLooper},
	{"mkdir_looping", repeated(napping + counting + `; rmdir "$L"`)},
}

// increments measures how often eight processes on three hosts get a lock, and
// the literature's loop after it. No increment may be lost.
func increments(t *testing.T) {
	lock := place(t)
	said := fmt.Sprintf("workers=%d", workers)
	for i, loop := range loops {
		said += fmt.Sprintf(" %s=%.1f", loop.name, count(t, fmt.Sprintf("%s%d", lock, i), loop.program))
	}
	figure(t, "increments", "%s", said)
}

// count runs a loop on all workers and returns how many increments a second they
// made.
func count(t *testing.T, lock, program string) float64 {
	t.Helper()
	counter, stop := lock+".counter", "/mnt/lab/stop-"+filepath.Base(lock) // seen by all hosts
	if err := os.WriteFile(onServer(counter), []byte("0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitLimit)
	defer cancel()
	program = fmt.Sprintf("export L=%s C=%s S=%s; %s", lock, counter, stop, program)
	done := make([]int, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			cmd := onHost(ctx, i%hosts+1, "sh", "-uc", program)
			var stderr safeBuffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			done[i], _ = strconv.Atoi(strings.TrimSpace(string(out)))
			if err != nil || done[i] == 0 {
				t.Errorf("worker %d: %v\n%s", i, err, &stderr)
			}
		})
	}
	time.Sleep(time.Second) // until all have started
	before, at := counted(t, counter), now()
	time.Sleep(lasts)
	rate := float64(counted(t, counter)-before) / (now() - at).Seconds()
	if err := os.WriteFile(stop, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	total := 0
	for _, n := range done {
		total += n
	}
	if got := counted(t, counter); got != total {
		t.Errorf("the counter is %d after %d increments", got, total)
	}
	return rate
}

// counted reads the counter as the server has it; it may be just being written.
func counted(t *testing.T, counter string) (n int) {
	t.Helper()
	eventually(t, "a number in the counter", func() bool {
		text, err := os.ReadFile(onServer(counter))
		if err != nil {
			return false
		}
		n, err = strconv.Atoi(strings.TrimSuffix(string(text), "\n"))
		return err == nil && strings.HasSuffix(string(text), "\n")
	})
	return n
}
