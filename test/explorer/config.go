//go:build unix

package main

import (
	"time"

	"locksmith/test/explorer/actors"
	"locksmith/test/explorer/explore"
)

// The lease is small, so that what counts by the lease and what counts by the second do not lie
// far apart. That keeps the number of ways small that time can go.
const lease = 4 * time.Second

// on is host n. No two clocks agree: neither those of two hosts, nor that of a host and the
// server's.
func on(n int) actors.Host {
	skew := []time.Duration{0, time.Hour, -time.Hour, 5 * time.Minute}
	return actors.Host{Number: n, Skew: skew[n%len(skew)], Uptime: time.Duration(n+1) * time.Hour}
}

func exclusive(host int) actors.Role {
	return actors.Role{System: system, Host: on(host), Rounds: 1}
}

func shared(host int) actors.Role {
	r := exclusive(host)
	r.Shared = true
	return r
}

func operator(host int) actors.Role {
	return actors.Role{System: system, Host: on(host), Operator: true}
}

func rounds(n int, r actors.Role) actors.Role  { r.Rounds = n; return r }
func beating(n int, r actors.Role) actors.Role { r.Beats = n; return r }
func impatient(r actors.Role) actors.Role      { r.Waits = 1; return r }
func tending(r actors.Role) actors.Role        { r.Tends = true; return r }
func shortly(n int, r actors.Role) actors.Role { r.Short = true; return rounds(n, r) }
func bearing(r actors.Role) actors.Role        { r.Bears = true; return r }
func strict(r actors.Role) actors.Role         { r.Strict = true; return r }
func roles(all ...actors.Role) []actors.Role   { return all }

type budget = explore.Budget

// always: every answer that can be outdated may be.
const always = -1

// almost is a jump of nearly a lease, instead of one of half a lease.
var almost = [3]int32{20, 95, 102}

// small are the worlds that are searched breadth first, some of them to the end.
var small = leased([]explore.Config{
	{Name: "xx", Roles: roles(rounds(2, exclusive(0)), rounds(2, exclusive(1)))},
	{Name: "xxx", Roles: roles(exclusive(0), exclusive(1), exclusive(2))},
	{Name: "xs", Roles: roles(rounds(2, exclusive(0)), rounds(2, shared(1)))},
	{Name: "ss", Roles: roles(rounds(2, shared(0)), rounds(2, shared(1)))},
	{Name: "ssx", Roles: roles(shared(0), shared(1), exclusive(2))},
	{Name: "one-host", Roles: roles(exclusive(0), exclusive(0), shared(1)), Adversary: budget{Crashes: 1}},
	{Name: "collect", Roles: roles(exclusive(0), rounds(5, exclusive(1))), Adversary: budget{Torn: 1}},

	{Name: "lease", States: 500_000, Roles: roles(beating(1, exclusive(0)), exclusive(1)), Adversary: budget{Full: 1}},
	{Name: "lease-shared", Roles: roles(beating(1, shared(0)), exclusive(1)), Adversary: budget{Full: 1}},
	{Name: "lease-both-shared", Roles: roles(shared(0), shared(1)), Adversary: budget{Full: 1}},
	{Name: "lease-prompt", Prompt: true, Roles: roles(beating(1, exclusive(0)), exclusive(1)), Adversary: budget{Full: 1}},
	{Name: "lease-shared-prompt", Prompt: true, Roles: roles(beating(1, shared(0)), exclusive(1)), Adversary: budget{Full: 1}},
	{Name: "half-prompt", Prompt: true, Roles: roles(beating(1, exclusive(0)), exclusive(1)), Adversary: budget{Half: 2}},
	{Name: "half", States: 500_000, Roles: roles(exclusive(0), exclusive(1)), Adversary: budget{Half: 2}},
	{Name: "half-watched", Prompt: true, Prelude: []int{0, 1}, Roles: roles(beating(2, exclusive(0)), exclusive(1)), Adversary: budget{Half: 3}},
	{Name: "half-beat", Roles: roles(beating(1, exclusive(0)), exclusive(1)), Adversary: budget{Half: 2}},
	{Name: "half-shared", Roles: roles(shared(0), exclusive(1)), Adversary: budget{Half: 2}},
	{Name: "gap", Prompt: true, Prelude: []int{0, 1, 0}, Roles: roles(rounds(2, exclusive(0)), exclusive(2)), Adversary: budget{Short: 1, Full: 1}, Jumps: [3]int32{20, 52, 92}},
	{Name: "fairness", Roles: roles(exclusive(0), exclusive(1), shared(2)), Adversary: budget{Short: 1}},
	{Name: "crash", Roles: roles(exclusive(0), exclusive(1)), Adversary: budget{Crashes: 1, Full: 1}},
	{Name: "crash-shared", Roles: roles(shared(0), exclusive(1)), Adversary: budget{Crashes: 1, Full: 1}},
	{Name: "crash-three", Roles: roles(shared(0), shared(0), exclusive(0)), Adversary: budget{Crashes: 1}},
	{Name: "withdraw", Roles: roles(impatient(exclusive(0)), impatient(shared(1)), exclusive(2)), Adversary: budget{}},
	{Name: "strict", Roles: roles(strict(exclusive(0)), strict(exclusive(0))), Adversary: budget{Crashes: 1, Full: 1}},

	{Name: "tend", Roles: roles(tending(exclusive(0)), exclusive(1)), Adversary: budget{Full: 1}},
	{Name: "tend-shared", Roles: roles(tending(shared(0)), shared(1)), Adversary: budget{Full: 1}},
	{Name: "tend-crash", Roles: roles(tending(exclusive(0)), shared(0), exclusive(0)), Adversary: budget{Crashes: 1}},

	{Name: "purge", Prompt: true, Prelude: first, PurgeAge: 2 * lease, Jumps: almost, Roles: roles(tending(beating(2, exclusive(0)))), Adversary: budget{Purges: 1, Short: 1, Half: 2}},
	{Name: "purge-shared", Prompt: true, Prelude: first, PurgeAge: 2 * lease, Jumps: almost, Roles: roles(tending(beating(2, shared(0)))), Adversary: budget{Purges: 1, Short: 1, Half: 2}},
	{Name: "purge-hasty", States: 60_000, Prompt: true, PurgeAge: lease / 2, Prelude: first, Roles: roles(beating(1, shared(0)), exclusive(1)), Adversary: budget{Purges: 1, Short: 1, Half: 1}},
	{Name: "purge-hasty-release", States: 60_000, Prompt: true, PurgeAge: lease / 2, Prelude: first, Roles: roles(shared(0), exclusive(1)), Adversary: budget{Purges: 1, Short: 1, Half: 1}},

	{Name: "short-lease", Prelude: first, Roles: roles(beating(1, exclusive(0)), shortly(2, exclusive(1))), Adversary: budget{Full: 1}},
	{Name: "short", Prelude: first, Roles: roles(beating(1, exclusive(0)), shortly(3, exclusive(1))), Adversary: budget{Half: 2}},
	{Name: "short-shared", Prelude: first, Roles: roles(beating(1, shared(0)), shortly(2, exclusive(1))), Adversary: budget{Full: 1}},
	{Name: "short-hosts", Prelude: first, Roles: roles(exclusive(0), shortly(2, exclusive(1)), shortly(2, exclusive(2)))},
	{Name: "short-together", Prompt: true, Prelude: first, Roles: roles(beating(1, exclusive(0)), shortly(2, exclusive(1)), shortly(2, exclusive(1))), Adversary: budget{Half: 2}},
	{Name: "short-next", Prompt: true, Prelude: first, Roles: roles(rounds(2, exclusive(0)), shortly(3, exclusive(1))), Adversary: budget{Half: 2}},
	{Name: "short-respite", Prompt: true, Prelude: first, Roles: roles(exclusive(0), sparing(shortly(3, exclusive(1)))), Adversary: budget{Short: 1, Full: 1}},
	{Name: "short-crash", Prelude: first, Fallen: first, Roles: roles(exclusive(0), shortly(3, exclusive(1))), Adversary: budget{Full: 2}},

	{Name: "operator", Roles: roles(beating(1, exclusive(0)), exclusive(1), operator(2))},
	{Name: "operator-shared", Roles: roles(beating(1, shared(0)), exclusive(1), operator(2))},
	{Name: "operator-dup", Roles: roles(beating(1, exclusive(0)), exclusive(1), operator(1)), Adversary: budget{Dups: 1}},

	{Name: "lost", Roles: roles(exclusive(0), exclusive(1)), Adversary: budget{Lost: 2}},
	{Name: "lost-shared", Roles: roles(shared(0), exclusive(1)), Adversary: budget{Lost: 1}},
	{Name: "lost-both-shared", Roles: roles(shared(0), shared(1)), Adversary: budget{Lost: 1}},
	{Name: "dup", Roles: roles(rounds(2, exclusive(0)), rounds(2, exclusive(1))), Adversary: budget{Dups: 1}},
	{Name: "dup-shared", Roles: roles(shared(0), rounds(2, exclusive(1))), Adversary: budget{Dups: 1}},
	{Name: "dup-both-shared", Roles: roles(shared(0), shared(1)), Adversary: budget{Dups: 2}},
	{Name: "dup-revived", States: 500_000, Roles: roles(rounds(2, shared(0)), exclusive(1)), Adversary: budget{Dups: 1}},
	{Name: "late", Roles: roles(exclusive(0), exclusive(1)), Adversary: budget{Lost: 1, Dups: 1}},
	{Name: "deaf", States: 350_000, Roles: roles(bearing(by(deaf, exclusive(0))), exclusive(1)), Adversary: budget{Lost: 1, Dups: 1}},
	{Name: "late-shared", Roles: roles(shared(0), exclusive(1)), Adversary: budget{Lost: 1, Dups: 1}},
	{Name: "late-both-shared", Roles: roles(shared(0), shared(1)), Adversary: budget{Lost: 1, Dups: 1}},
	{Name: "late-crash", Roles: roles(exclusive(0), exclusive(0)), Adversary: budget{Crashes: 1, Lost: 1, Dups: 1}},
	{Name: "late-crash-shared", Roles: roles(shared(0), exclusive(0)), Adversary: budget{Crashes: 1, Lost: 1, Dups: 1}},

	{Name: "vague", Roles: roles(by(vague, exclusive(0)), rounds(2, exclusive(1)))},
	{Name: "vague-shared", Roles: roles(by(vague, shared(0)), exclusive(1))},
	{Name: "vague-both-shared", Roles: roles(by(vague, shared(0)), by(vague, shared(1)))},
	{Name: "vague-late", Roles: roles(by(vague, exclusive(0)), exclusive(1)), Adversary: budget{Lost: 1, Dups: 1}},
	{Name: "vague-crash", Roles: roles(by(vague, exclusive(0)), by(vague, shared(0))), Adversary: budget{Crashes: 1}},

	{Name: "stale", Roles: roles(rounds(2, exclusive(0)), rounds(2, exclusive(1))), Adversary: budget{Stale: always}},
	{Name: "stale-shared", Roles: roles(rounds(2, shared(0)), rounds(2, exclusive(1))), Adversary: budget{Stale: always}},
	{Name: "tick", Tick: true, Roles: roles(rounds(2, exclusive(0)), rounds(2, exclusive(1))), Adversary: budget{Stale: always}},
	{Name: "tick-shared", Tick: true, Roles: roles(rounds(2, shared(0)), exclusive(1)), Adversary: budget{Stale: always}},
	{Name: "tick-three", Tick: true, Roles: roles(shared(0), shared(1), exclusive(2)), Adversary: budget{Stale: 1}},
	{Name: "tick-lost", Tick: true, Roles: roles(shared(0), exclusive(1)), Adversary: budget{Stale: 2, Lost: 1}},
	{Name: "tick-unclear", Tick: true, Roles: roles(exclusive(0), exclusive(1)), Adversary: budget{Stale: 2, Lost: 1}},
	{Name: "torn", Roles: roles(rounds(2, exclusive(0)), rounds(2, exclusive(1))), Adversary: budget{Torn: 2}},
	{Name: "torn-shared", Roles: roles(shared(0), shared(1), exclusive(2)), Adversary: budget{Torn: 1}},
})

// large are the worlds that are walked through at random.
var large = leased([]explore.Config{
	{Name: "large-exclusive", Roles: roles(rounds(3, beating(1, exclusive(0))), rounds(3, exclusive(1)), rounds(3, exclusive(1)), rounds(3, exclusive(2))),
		Adversary: everything},
	{Name: "large-short", Roles: roles(rounds(3, beating(1, exclusive(0))), shortly(5, exclusive(1)), sparing(shortly(5, exclusive(1))), shortly(5, exclusive(2)), shortly(5, shared(3))),
		Adversary: everything},
	{Name: "large-mixed", Roles: roles(rounds(3, beating(1, exclusive(0))), rounds(3, beating(1, shared(0))), rounds(3, shared(1)), rounds(3, shared(2)), rounds(2, exclusive(2)), operator(1)),
		Adversary: everything},
	{Name: "large-tick", Tick: true, Roles: roles(rounds(3, exclusive(0)), rounds(3, shared(1)), rounds(3, beating(1, shared(2))), impatient(rounds(3, exclusive(2))), rounds(3, exclusive(3))),
		Adversary: everything},
	{Name: "large-crowd", Tick: true, Roles: roles(rounds(2, exclusive(0)), rounds(2, exclusive(0)), rounds(2, exclusive(1)), impatient(rounds(2, exclusive(1))),
		rounds(2, shared(2)), rounds(2, shared(2)), rounds(2, shared(3)), operator(3)),
		Adversary: everything},
})

var everything = budget{Crashes: 2, Lost: 3, Dups: 3, Torn: 6, Stale: 6, Short: 4, Half: 4, Full: 3}

// leased gives all configurations the same lease.
func leased(configs []explore.Config) []explore.Config {
	for i := range configs {
		configs[i].Lease = lease
	}
	return configs
}
