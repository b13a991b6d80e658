package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

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
