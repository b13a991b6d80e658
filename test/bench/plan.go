package main

import "time"

// A plan says how long to measure.
type plan struct {
	rounds   int           // in which each rival has its turn
	spawns   int           // runs of each rival in a round
	contend  time.Duration // by each rival in a round, or longer:
	changes  int           // until there are so many hand-offs
	most     time.Duration // but no longer than this
	crowds   []int         // how many processes contend
	handoffs int           // of each rival in a round
	queue    time.Duration // for a waiter to be waiting for certain
	settle   time.Duration // before idle processes are looked at
	watch    time.Duration // of idle waiters
	waiters  int           // that idle
	retire   time.Duration // until waiters of a lock that is asked for do so slowly
	helpers  []int         // that hold a lock each, for their memory
	curve    []int         // numbers of waiters
	steady   time.Duration // before they are watched
	load     time.Duration // while they are
}

var full = plan{
	rounds: 3, spawns: 150, contend: time.Second, changes: 10, most: 20 * time.Second, crowds: []int{8, 64},
	handoffs: 70, queue: 150 * time.Millisecond,
	settle: 3 * time.Second, watch: 20 * time.Second, waiters: 100, retire: time.Minute,
	helpers: []int{10, 100},
	curve:   []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, steady: 6 * time.Second, load: 3 * time.Second,
}

var quick = plan{
	rounds: 1, spawns: 2, contend: 200 * time.Millisecond, changes: 2, most: time.Second, crowds: []int{8},
	handoffs: 2, queue: 100 * time.Millisecond,
	settle: time.Second, watch: time.Second, waiters: 10, retire: 2 * time.Second,
	helpers: []int{10},
	curve:   []int{1, 2, 4}, steady: 300 * time.Millisecond, load: 200 * time.Millisecond,
}

// slowly is how many of n runs are enough for a rival that takes long to start.
func slowly(n int) int { return max(1, n/10) }
