// Command bench measures what a lock costs beside what others take for theirs, and
// prints one table. Run it from the repository's root, on Linux:
//
//	go run ./test/bench [-quick] [-only REGEXP] [-plot FILE] [-readme FILE]
//
// It builds locksmith and the programs it is compared with, with the same flags, and
// starts an etcd and an FTP server of its own on loopback. A rival that is not
// installed is in the table as such; test/run installs all of them. What is measured,
// by the names that -only knows:
//
//   - spawn: the time to take a free lock, run true(1) and release the lock. The floor
//     is a Go program that takes no lock; the next one takes none either, but links the
//     libraries that locksmith is made of and catches the signals that it passes on.
//     Libraries start their interpreter for it.
//   - commands: 8 and 64 processes that all want one lock, each time for a command.
//     The command increments a counter; a hand-off is an increment by another of the
//     processes than the one before. The first half second does not count. Who sleeps is
//     watched until there are ten hand-offs, for 20 s at most.
//   - loops: the same by processes that live on in between. A library's process loops
//     in its own language; locksmith's is a Go program that uses package client, which
//     starts a helper each time, or the backends without one.
//   - latency: the time from a release to the OK of the one process that waits, with
//     some time in between, so that all have gone to sleep.
//   - idle: what waiters of a held lock do: context switches, processor time, commands
//     to the FTP server. Where nothing wakes a waiter, each look at the lock is at least
//     one switch, so that switches stand for operations of the file system; to count
//     those themselves, with strace, would slow all down.
//   - memory: the proportional set size of processes that hold a lock each.
//   - curve: 1 to 256 processes queue for a held lock, idle first, and then have it one
//     after the other: hand-offs a second, processor time of all for a hand-off, and
//     the time from one to the next. -plot draws it.
//
// Tools wait as they do by default, but without end (dotlockfile -r -1, proper-lockfile
// { retries: { forever: true } }). Those that sleep for seconds between two tries are
// killed when the time is over, and what they managed counts.
//
// Rivals take turns within a round, so that whatever else the machine does hits all of
// them, and the table shows medians and ratios of ours to theirs. A counter that ends
// short of its increments is a lost update: of ours it fails the benchmark, as does a
// lock that is left behind and a process that hangs; of a rival that fails under
// contention the table says so. A goal that is missed is shown in the table only.
//
// What is not measured: locks in directories on a network; the crash of a holder, and
// how soon others notice; whether anybody starves; more than one lock at a time under
// contention; a machine under load. Idle waiters are watched for less than the minute
// after which the Go runtime looks after itself, which is a few switches in each
// process.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Settings are what the command line says.
type settings struct {
	plan
	only   *regexp.Regexp
	plot   string    // file for the curves
	readme string    // file to put the table into
	log    io.Writer // for what is measured at the moment
}

func main() {
	s, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func parse(args []string) (settings, error) {
	s := settings{plan: full, log: os.Stderr}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	short := flags.Bool("quick", false, "take half a minute only; the figures mean little")
	rounds := flags.Int("rounds", 0, "how often each rival has its turn (default 3)")
	only := flags.String("only", "", "measure only what matches this `regexp`: "+names())
	flags.StringVar(&s.plot, "plot", "", "draw the curves into this `file`, as SVG")
	flags.StringVar(&s.readme, "readme", "", "put the table into this `file`, between the lines\n"+beginMark+" and "+endMark)
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if *short {
		s.plan = quick
	}
	if *rounds > 0 {
		s.rounds = *rounds
	}
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		fmt.Fprintln(os.Stderr, "bench: -only:", err)
	}
	return s, err
}

// run measures everything and prints the table.
func run(ctx context.Context, s settings, out io.Writer) error {
	if runtime.GOOS != "linux" {
		return errors.New("it reads /proc as Linux has it")
	}
	heading, before := machine(), processors()
	t, err := measured(ctx, s)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s, processors stolen by others meanwhile %s:\n\n", heading, before.stolenSince())
	t.print(&text)
	if _, err := out.Write(text.Bytes()); err != nil {
		return err
	}
	return s.intoReadme(text.Bytes())
}

// measured returns the table, when nothing is left of what made it.
func measured(ctx context.Context, s settings) (t table, err error) {
	b, err := newBench(ctx, s)
	if err != nil {
		return t, err
	}
	defer b.remove()
	if err := b.measure(b.ctx, &t); err != nil {
		return t, fmt.Errorf("%w%s", err, b.lastMessages())
	}
	return t, nil
}

// A measurement adds to the table what it finds out.
type measurement struct {
	name string
	run  func(*bench, context.Context, *table) error
}

func measurements() []measurement {
	return []measurement{
		{"spawn", (*bench).spawn},
		{"commands", (*bench).commands},
		{"loops", (*bench).loops},
		{"latency", (*bench).latency},
		{"idle", (*bench).idle},
		{"memory", (*bench).memory},
		{"curve", (*bench).curves},
	}
}

func names() string {
	var all []string
	for _, m := range measurements() {
		all = append(all, m.name)
	}
	return strings.Join(all, ", ")
}

// measure does what is asked for, in order.
func (b *bench) measure(ctx context.Context, t *table) error {
	for _, m := range measurements() {
		if !b.only.MatchString(m.name) {
			continue
		}
		start := time.Now()
		if err := m.run(b, ctx, t); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Fprintf(b.log, "bench: %s took %.0f s\n", m.name, time.Since(start).Seconds())
	}
	return nil
}
