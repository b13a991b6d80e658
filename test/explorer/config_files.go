//go:build unix

package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksmith/test/explorer/actors"
	"locksmith/test/explorer/explore"
)

// proving breaks only by proof. aging also breaks by age and by lease.
func proving(host int) actors.Role { return strict(aging(host)) }
func aging(host int) actors.Role   { return by(linked, exclusive(host)) }

// another is a tool, which knows only ln and rm. It does not crash, because only age would break
// what it left.
func another(host int) actors.Role {
	r := by(newTool, exclusive(host))
	r.Script, r.Sturdy = true, true
	return r
}

// sturdy makes a role never crash, because nobody could prove it.
func sturdy(r actors.Role) actors.Role { r.Sturdy = true; return r }

// sparing makes a role wait a while after it has found somebody dead.
func sparing(r actors.Role) actors.Role { r.Grace = time.Second; return r }

// first is the process that comes first or crashes.
var first = []int{0}

// If nobody breaks by age, nothing may be wrong.
var provenFiles = concat(
	filed("link", explore.Files{}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, proving(0)), rounds(2, proving(1)))},
		{Name: "xxx", Roles: roles(proving(0), proving(1), proving(2))},
		{Name: "beat", Roles: roles(beating(1, proving(0)), proving(1)), Adversary: budget{Full: 1}},
		{Name: "tool", Roles: roles(rounds(2, proving(0)), rounds(2, another(1)))},
		{Name: "tools", Roles: roles(proving(0), another(1), another(2))},
		{Name: "withdraw", Roles: roles(impatient(proving(0)), proving(1), another(2))},
		{Name: "crash", Roles: roles(proving(0), proving(0)), Adversary: budget{Crashes: 1}},
		{Name: "crash-tend", Roles: roles(tending(proving(0)), proving(0)), Adversary: budget{Crashes: 1}},
		{Name: "crash-tool", Roles: roles(proving(0), proving(0), another(1)), Adversary: budget{Crashes: 1}},
		{Name: "dead", States: 100_000, Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0))},
		{Name: "dead-turn", Prelude: first, Fallen: first, Dying: []int{1}, Roles: roles(proving(0), proving(0), proving(0), proving(0))},
		{Name: "dead-turns", Prelude: first, Fallen: first, Dying: []int{1, 2}, Roles: roles(proving(0), proving(0), proving(0), proving(0), proving(0))},
		{Name: "dead-next", Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0), proving(1))},
		{Name: "dead-three", Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0), proving(0))},
		{Name: "dead-tool", Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0), another(1))},
		{Name: "dead-crash", Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0)), Adversary: budget{Crashes: 1}},
		{Name: "dead-crash-three", Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0), proving(0)), Adversary: budget{Crashes: 1}},
		{Name: "dead-tend", Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), tending(proving(0))), Adversary: budget{Crashes: 1}},
		{Name: "dead-lost", Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0)), Adversary: budget{Lost: 1}},
		{Name: "dead-dup", Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0)), Adversary: budget{Dups: 1}},
		{Name: "dead-late", Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0)), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "dead-late-one", Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0)), Adversary: budget{Lost: 2, Dups: 1}},
		{Name: "purge", Prompt: true, Prelude: first, PurgeAge: 2 * lease, Jumps: almost, Roles: roles(tending(beating(2, proving(0)))), Adversary: budget{Purges: 1, Short: 1, Half: 2}},
		{Name: "lost", Roles: roles(proving(0), proving(1)), Adversary: budget{Lost: 1}},
		{Name: "lost-twice", Roles: roles(proving(0), proving(1)), Adversary: budget{Lost: 2}},
		{Name: "lost-beat", Roles: roles(beating(1, proving(0)), impatient(proving(1))), Adversary: budget{Lost: 1}},
		{Name: "dup", Roles: roles(rounds(2, proving(0)), proving(1)), Adversary: budget{Dups: 1}},
		{Name: "late", Roles: roles(proving(0), proving(1)), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "late-withdraw", Prelude: []int{1}, Roles: roles(impatient(proving(0)), rounds(2, proving(1))), Adversary: budget{Dups: 1}},
		{Name: "late-again", Prelude: []int{1}, Roles: roles(proving(0), rounds(2, proving(1))), Adversary: budget{Dups: 1}},
		{Name: "stale", Roles: roles(rounds(2, proving(0)), proving(1)), Adversary: budget{Stale: always}},
		{Name: "torn", Roles: roles(tending(proving(0)), proving(0)), Adversary: budget{Torn: 2, Crashes: 1}},
	}),
	filed("link-reuse", explore.Files{Reuse: true}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, proving(0)), rounds(2, proving(1)))},
		{Name: "dead", States: 100_000, Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0))},
		{Name: "lost", Roles: roles(proving(0), proving(1)), Adversary: budget{Lost: 1}},
	}),
	filed("link-local", explore.Files{Local: true}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, proving(0)), rounds(2, proving(0)))},
		{Name: "dead", States: 100_000, Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0))},
	}),
)

// A process that breaks by age, or an operator, may be stopped between its look and the removal.
// So may a holder.
var agedFiles = limited(explore.Meanwhile, concat(
	filed("link-age", explore.Files{}, []explore.Config{
		{Name: "holder", Prelude: first, Meets: hits(1, 2), Roles: roles(beating(1, aging(0)), aging(1)), Adversary: budget{Full: 1}},
		{Name: "breaker", States: 250_000, Prompt: true, Prelude: []int{0, 1}, Meets: hits(2, 3), Roles: roles(aging(0), aging(1), proving(2)), Adversary: budget{Full: 1}},
		{Name: "breakers", States: 500_000, Prompt: true, Prelude: []int{0, 2}, Fallen: first, Stopped: []int{1}, Meets: hits(2, 3), Roles: roles(proving(0), proving(0), aging(1)), Adversary: budget{Full: 2}},
		{Name: "beat", Prelude: []int{0, 1}, Meets: hits(1, 2), Roles: roles(beating(1, aging(0)), aging(1)), Adversary: budget{Half: 2}},
		{Name: "old", Prompt: true, Prelude: first, Meets: hits(1, 2), Roles: roles(aging(0), sparing(aging(1))), Adversary: budget{Full: 1, Half: 1}},
		{Name: "purge-hasty", Prompt: true, Prelude: first, PurgeAge: lease / 2, Meets: hits(1, 2), Roles: roles(beating(1, proving(0)), proving(1)), Adversary: budget{Purges: 1, Short: 1, Half: 1}},
		{Name: "tool", Meets: hits(2, 1), Roles: roles(aging(0), another(1)), Adversary: budget{Full: 1}},
		{Name: "tend", Prompt: true, Prelude: first, Meets: hits(1, 2), Roles: roles(tending(aging(0)), aging(1)), Adversary: budget{Crashes: 1, Full: 1}},
		{Name: "lost", States: 250_000, Prompt: true, Prelude: first, Meets: hits(1, 2), Roles: roles(beating(1, aging(0)), aging(1)), Adversary: budget{Lost: 1, Full: 1}},
		{Name: "operator", Prelude: []int{0, 2, 1}, Meets: append(hits(1, 2), "the operator removes the lock of P2, "+explore.Meanwhile),
			Roles: roles(beating(1, proving(0)), proving(1), by(linked, operator(2)))},
	}),
	filed("link-short", explore.Files{}, []explore.Config{
		{Name: "beat", Prompt: true, Prelude: first, Roles: roles(beating(1, aging(0)), shortly(2, aging(1))), Adversary: budget{Half: 2}},
		{Name: "hosts", Prelude: first, Roles: roles(aging(0), shortly(2, aging(1)), shortly(2, aging(2)))},
		{Name: "next", Prompt: true, Prelude: first, Roles: roles(rounds(2, aging(0)), shortly(3, aging(1))), Adversary: budget{Half: 2}},
	}),
	filed("link-age-reuse", explore.Files{Reuse: true}, []explore.Config{
		{Name: "holder", Prelude: first, Meets: hits(1, 2), Roles: roles(beating(1, aging(0)), aging(1)), Adversary: budget{Full: 1}},
	}),
	filed("link-age-local", explore.Files{Local: true}, []explore.Config{
		{Name: "holder", Prelude: first, Meets: hits(1, 2), Roles: roles(beating(1, aging(0)), aging(0)), Adversary: budget{Full: 1}},
	}),
))

// hits is what a stopped process does to another.
func hits(who, whom int) []string {
	return []string{fmt.Sprintf("P%d removes the lock of P%d, %s", who, whom, explore.Meanwhile)}
}

// A request to remove the lock contains no id.
var lateFiles = limited(explore.Late, filed("link-careless", explore.Files{Careless: true}, []explore.Config{
	{Name: "dup", Meets: []string{"the lock of P1 is removed " + explore.Late, "the lock of P2 is removed " + explore.Late},
		Roles: roles(rounds(2, proving(0)), proving(1)), Adversary: budget{Dups: 1}},
}))

var smallFiles = aged(leased(concat(provenFiles, agedFiles, lateFiles)))

// aged gives the time that it takes a lock to be old: an old lock is watched for half a minute.
func aged(all []explore.Config) []explore.Config {
	for i := range all {
		if all[i].Name == "link-age-old" {
			all[i].Lease, all[i].Jumps = time.Minute, [3]int32{20, 55, 101}
		}
	}
	return all
}

var largeFiles = leased(concat(
	filed("large-link", explore.Files{}, []explore.Config{
		{Name: "proof", Roles: roles(rounds(3, beating(1, proving(0))), rounds(3, tending(proving(0))), rounds(3, proving(0)), impatient(rounds(3, sturdy(proving(1)))), rounds(2, another(2))),
			Adversary: budget{Crashes: 2, Lost: 3, Dups: 1, Torn: 6, Stale: 6}},
	}),
	limited(explore.Meanwhile, filed("large-link", explore.Files{}, []explore.Config{
		{Name: "age", Roles: roles(rounds(3, beating(1, aging(0))), rounds(3, tending(aging(1))), impatient(rounds(3, aging(2))), by(linked, operator(2))),
			Adversary: everything},
	})),
))

// walkedLimits are worlds in which a breaker by proof is hit: the server executes late the
// request to remove its turn, which another process had before.
var walkedLimits = leased(filed("limit-link", explore.Files{Careless: true}, []explore.Config{
	{Name: "turns", Walks: 60_000, Prelude: first, Fallen: first, Roles: roles(proving(0), proving(0), proving(0), proving(0)), Adversary: budget{Lost: 1, Dups: 1}},
}))

// fileStates is less than usual, because processes make many calls.
const (
	fileStates = 60_000
	fileWalks  = 100
)

// filed gives all configurations the same server.
func filed(prefix string, f explore.Files, all []explore.Config) []explore.Config {
	f.Lock, f.Turns, f.Leftovers = fileName, fileName+".brk.", toolMark
	for i := range all {
		all[i].Name = prefix + "-" + all[i].Name
		all[i].Files, all[i].NoTokens = &f, true
		all[i].States, all[i].Walks = cmp.Or(all[i].States, fileStates), cmp.Or(all[i].Walks, fileWalks)
	}
	return all
}

// limited says what is known not to hold.
func limited(what string, all []explore.Config) []explore.Config {
	all = slices.Clone(all)
	for i := range all {
		all[i].Limit = what
	}
	return all
}
