// Command bench measures what a lock costs, and prints one table. Run it from
// the repository's root, on Linux:
//
//	go run ./test/bench
//
// It builds locksmith and the programs it is compared with, with the same
// flags, and measures:
//
//   - the time to take a lock, run true(1) and release the lock, against a bare
//     Go program that only runs true (floor), and against flock(1);
//   - the increments a second of a counter in a file, by eight processes that
//     contend for its lock, against flock(1) and a shell loop around mkdir(1);
//   - the same with an nfs: lock on a local disk, by processes that loop
//     themselves, and the time such a lock takes from hand to hand, both against
//     a shell loop around mkdir(1);
//   - the context switches a second of twenty processes that wait for a lock;
//   - the memory (PSS) of one of ten processes that hold a lock each.
//
// Rivals take turns within a round, so that whatever else the machine does
// hits all of them, and the table shows medians and their ratios. A counter
// that ends short of its increments is a lost update, and fails the benchmark,
// as does a lock that is left behind and a process that hangs. A goal that is
// missed is told in the table only.
//
// What is not measured: locks in directories on a network; the crash of a
// holder, and how soon others notice; who gets the lock next, and whether
// anybody starves; more than one lock at a time under contention; a machine
// under load. The idle waiters are watched for less than the minute after which
// the Go runtime looks after itself, which is a few switches in each process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// A plan says how long to measure.
type plan struct {
	rounds   int
	spawns   int           // runs of each rival in a round
	contend  time.Duration // by each rival in a round
	handoffs int           // of each rival in a round
	settle   time.Duration // before idle processes are looked at
	watch    time.Duration // of idle waiters
}

var (
	full  = plan{rounds: 10, spawns: 50, contend: time.Second, handoffs: 4, settle: 3 * time.Second, watch: 20 * time.Second}
	quick = plan{rounds: 1, spawns: 3, contend: 300 * time.Millisecond, handoffs: 1, settle: time.Second, watch: 2 * time.Second}
)

func main() {
	rounds := flag.Int("rounds", full.rounds, "how often each rival has its turn")
	short := flag.Bool("quick", false, "take a few seconds only; the figures mean little")
	flag.Parse()
	p := full
	p.rounds = *rounds
	if *short {
		p = quick
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, p, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures everything and prints the table.
func run(ctx context.Context, p plan, out io.Writer) error {
	if runtime.GOOS != "linux" {
		return errors.New("it reads /proc as Linux has it")
	}
	if p.rounds < 1 {
		return errors.New("-rounds must be at least 1")
	}
	b, err := newBench(ctx, p)
	if err != nil {
		return err
	}
	defer b.remove()
	var t table
	for _, measure := range []func(context.Context, *table) error{b.spawn, b.increments, b.loops, b.handoff, b.idle, b.memory} {
		if err := measure(ctx, &t); err != nil {
			return fmt.Errorf("%w%s", err, b.lastMessages())
		}
	}
	return t.print(out)
}
