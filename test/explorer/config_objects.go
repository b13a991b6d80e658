//go:build unix

package main

import (
	"cmp"

	"locksmith/test/explorer/actors"
	"locksmith/test/explorer/explore"
)

// far is one of our processes at an object store.
func far(host int) actors.Role { return by(stored, exclusive(host)) }

// patient breaks only by proof.
func patient(host int) actors.Role { return strict(far(host)) }

// removing makes a role remove the lock after it held it.
func removing(r actors.Role) actors.Role { r.Removes = true; return r }

var smallObjects = leased(concat(
	kept("s3", explore.Objects{}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, far(0)), rounds(2, far(1)))},
		{Name: "xxx", States: whole, Roles: roles(far(0), far(1), far(2))},
		{Name: "short", Roles: roles(far(0), shortly(2, far(1)), shortly(2, far(2)))},
		{Name: "collect", Roles: roles(far(0), shortly(6, far(1)))},
		{Name: "one-host", Roles: roles(far(0), far(0), far(1)), Adversary: budget{Crashes: 1}},
		{Name: "strict", Roles: roles(patient(0), patient(0), patient(0)), Adversary: budget{Crashes: 1}},
		{Name: "strict-lease", Prompt: true, Roles: roles(beating(1, patient(0)), patient(0)), Adversary: budget{Full: 1}},
		{Name: "lease", Roles: roles(beating(1, far(0)), far(1)), Adversary: budget{Full: 1}},
		{Name: "lease-prompt", Prompt: true, Roles: roles(beating(1, far(0)), far(1)), Adversary: budget{Full: 1}},
		{Name: "lease-rounds", Prompt: true, Prelude: []int{0, 1}, Roles: roles(rounds(2, far(0)), far(1)), Adversary: budget{Full: 1}},
		{Name: "lease-three", Prompt: true, Prelude: []int{0, 1, 2}, Roles: roles(far(0), far(1), far(2)), Adversary: budget{Full: 1}},
		{Name: "half", Prompt: true, Roles: roles(beating(1, far(0)), far(1)), Adversary: budget{Half: 2}},
		{Name: "gap", Prompt: true, Prelude: []int{0, 1, 2, 0}, Roles: roles(far(0), far(1), far(2)), Adversary: budget{Short: 1, Full: 1}, Jumps: [3]int32{20, 52, 92}},
		{Name: "half-long", Prompt: true, Prelude: []int{0, 1}, Roles: roles(beating(2, far(0)), far(1)), Adversary: budget{Half: 3}},
		{Name: "respite", Prompt: true, Prelude: []int{0, 1}, Roles: roles(far(0), sparing(far(1))), Adversary: budget{Short: 2, Full: 1}},
		{Name: "fairness", Prompt: true, Prelude: []int{0, 1, 2}, Roles: roles(far(0), far(1), far(2)), Adversary: budget{Half: 2}},
		{Name: "crash", Prompt: true, Roles: roles(far(0), far(1)), Adversary: budget{Crashes: 1, Full: 1}},
		{Name: "withdraw", States: whole, Roles: roles(impatient(far(0)), far(1), impatient(far(2)))},
		{Name: "tend", Roles: roles(tending(far(0)), far(1)), Adversary: budget{Full: 1}},
		{Name: "tend-long", Prompt: true, Prelude: []int{0, 1}, Roles: roles(cleaning(far(0)), far(1)), Adversary: budget{Half: 2}},
		{Name: "tend-crash", Roles: roles(tending(far(0)), far(0), far(0)), Adversary: budget{Crashes: 1}},
		{Name: "operator", States: whole, Roles: roles(beating(1, far(0)), far(1), by(stored, operator(2)))},
		{Name: "operator-waiter", States: whole, Roles: roles(far(0), far(1), evictor(stored, 2))},
		{Name: "operator-dup", Roles: roles(beating(1, far(0)), far(1), by(stored, operator(2))), Adversary: budget{Dups: 1}},
		{Name: "operator-copied", Prelude: []int{0, 2, 2, 1}, Copied: true, Roles: roles(beating(1, far(0)), far(1), by(stored, operator(2))), Adversary: budget{Dups: 1}},
		{Name: "operator-old", Prelude: []int{0, 2, 2, 1, 1, 1, 1, 1}, Copied: true, Roles: roles(beating(1, far(0)), rounds(5, far(1)), by(stored, operator(2))), Adversary: budget{Dups: 1}},
		{Name: "operator-order", Prelude: []int{0, 2, 2, 1, 1, 1}, Fallen: []int{1}, Copied: true, Roles: roles(beating(1, far(0)), rounds(3, far(1)), by(stored, operator(2)), far(1)), Adversary: budget{Dups: 1, Lost: 1}},
		{Name: "operator-late", States: whole, Late: []int{3}, Prelude: []int{0, 2, 2, 1, 1, 1, 1, 1}, Copied: true, Roles: roles(beating(1, shortly(1, far(0))), shortly(5, far(1)), by(stored, operator(2)), far(2)), Adversary: budget{Dups: 1}},
		{Name: "remove", States: whole, Roles: roles(rounds(2, removing(far(0))), shortly(3, far(1)))},
		{Name: "remove-torn", States: whole, Roles: roles(rounds(2, removing(far(0))), shortly(3, far(1))), Adversary: budget{Torn: 1}},
		{Name: "remove-late", States: whole, Roles: roles(removing(far(0)), far(1)), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "lost", Roles: roles(far(0), far(1)), Adversary: budget{Lost: 2}},
		{Name: "lost-alone", Roles: roles(far(0)), Adversary: budget{Lost: 1}},
		{Name: "lost-beat", States: whole, Roles: roles(beating(1, far(0)), impatient(far(1))), Adversary: budget{Lost: 2}},
		{Name: "lost-crash", Roles: roles(far(0), far(0)), Adversary: budget{Lost: 1, Crashes: 1}},
		{Name: "lost-operator", Roles: roles(beating(1, far(0)), far(1), by(stored, operator(2))), Adversary: budget{Lost: 1}},
		{Name: "lost-lease", Prompt: true, Prelude: []int{0, 1}, Roles: roles(far(0), far(1)), Adversary: budget{Lost: 2, Full: 1}},
		{Name: "lost-crash-lease", Prompt: true, Prelude: []int{0, 1}, Roles: roles(far(0), far(1)), Adversary: budget{Crashes: 1, Lost: 1, Full: 1}},
		{Name: "dup", States: whole, Roles: roles(rounds(2, far(0)), rounds(2, far(1))), Adversary: budget{Dups: 1}},
		{Name: "dup-twice", States: whole, Roles: roles(rounds(2, far(0)), far(1)), Adversary: budget{Dups: 2}},
		{Name: "dup-half", States: whole, Prompt: true, Prelude: []int{0, 1}, Roles: roles(beating(1, far(0)), far(1)), Adversary: budget{Dups: 1, Half: 2}},
		{Name: "late", Roles: roles(far(0), far(1)), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "late-twice", Roles: roles(far(0), far(1)), Adversary: budget{Lost: 2, Dups: 2}},
		{Name: "late-rounds", Roles: roles(far(0), shortly(4, far(1))), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "late-three", Roles: roles(far(0), far(1), far(2)), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "late-crash", States: whole, Roles: roles(far(0), far(0)), Adversary: budget{Crashes: 1, Lost: 1, Dups: 1}},
		{Name: "late-operator", Roles: roles(beating(1, far(0)), far(1), by(stored, operator(2))), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "late-lease", Prompt: true, Prelude: []int{0, 1}, Roles: roles(beating(1, far(0)), far(1)), Adversary: budget{Lost: 1, Dups: 1, Full: 1}},
		{Name: "foreign", Roles: roles(rounds(2, far(0)), far(1)), Adversary: budget{Foreign: 1}},
		{Name: "foreign-beat", States: whole, Roles: roles(beating(1, far(0)), impatient(far(1))), Adversary: budget{Foreign: 1}},
		{Name: "foreign-strict", Roles: roles(patient(0), patient(0)), Adversary: budget{Foreign: 1}},
		{Name: "foreign-torn", Roles: roles(far(0), far(1)), Adversary: budget{Foreign: 1, Torn: 1}},
		{Name: "foreign-lease", Prompt: true, Prelude: []int{0, 1}, Roles: roles(beating(1, far(0)), far(1)), Adversary: budget{Foreign: 1, Full: 1}},
		{Name: "foreign-copied", Prelude: []int{0, 2, 2, 1}, Copied: true, Roles: roles(beating(1, far(0)), far(1), by(stored, operator(2))), Adversary: budget{Foreign: 1, Dups: 1}},
		{Name: "torn", Roles: roles(far(0), shortly(5, far(1))), Adversary: budget{Torn: 1}},
		{Name: "torn-twice", States: whole, Roles: roles(rounds(2, far(0)), rounds(3, far(1))), Adversary: budget{Torn: 2}},
		{Name: "torn-three", States: whole, Roles: roles(far(0), far(1), far(2)), Adversary: budget{Torn: 1}},
		{Name: "torn-lost", Roles: roles(far(0), far(1)), Adversary: budget{Torn: 1, Lost: 1}},
	}),
	kept("s3-pages", explore.Objects{Page: 2}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, far(0)), rounds(2, far(1)))},
		{Name: "xxx", States: whole, Roles: roles(far(0), far(1), far(2))},
		{Name: "collect", Roles: roles(far(0), shortly(6, far(1)))},
		{Name: "crash", Roles: roles(far(0), far(0), far(1)), Adversary: budget{Crashes: 1}},
		{Name: "lease", Prompt: true, Roles: roles(beating(1, far(0)), far(1)), Adversary: budget{Full: 1}},
		{Name: "late", Roles: roles(far(0), rounds(2, far(1))), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "torn", Roles: roles(rounds(2, far(0)), rounds(2, far(1))), Adversary: budget{Torn: 1}},
	}),
	kept("s3-forgets", explore.Objects{Forgets: true}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, far(0)), far(1)), Adversary: budget{Foreign: 1}},
	}),
	kept("s3-still", explore.Objects{Still: true}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, far(0)), rounds(2, far(1)))},
		{Name: "half", Prompt: true, Prelude: []int{0, 0, 1}, Roles: roles(beating(2, far(0)), far(1)), Adversary: budget{Half: 2}},
	}),
))

var largeObjects = leased(concat(
	kept("large-s3", explore.Objects{Page: 4}, []explore.Config{
		{Name: "all", Roles: roles(rounds(3, beating(1, far(0))), rounds(3, tending(far(0))), impatient(rounds(3, far(1))), rounds(3, beating(1, far(2))), evictor(stored, 1)),
			Adversary: stores},
		{Name: "crowd", Roles: roles(rounds(2, far(0)), rounds(2, far(0)), rounds(2, far(1)), impatient(rounds(2, far(1))), rounds(2, far(2)), rounds(2, tending(far(2))), by(stored, operator(1))),
			Adversary: stores},
		{Name: "strict", Roles: roles(rounds(3, beating(1, patient(0))), rounds(3, patient(0)), rounds(3, tending(patient(0))), by(stored, operator(1))),
			Adversary: budget{Crashes: 2, Torn: 4, Foreign: 2, Full: 2}},
	}),
))

// stores is everything that can go wrong if nothing is cached.
var stores = budget{Crashes: 2, Lost: 4, Dups: 3, Torn: 4, Foreign: 2, Short: 4, Half: 4, Full: 3}

// copiedObjects is a world in which two requests of one acquisition, that of the reservation and
// that of the generation, are executed again after five others have had the lock.
var copiedObjects = leased(kept("limit-s3", explore.Objects{}, []explore.Config{
	{Name: "copies", Prelude: []int{0, 2, 2, 1, 1, 1, 1, 1}, Copied: true, Roles: roles(beating(1, far(0)), rounds(5, far(1)), by(stored, operator(2))), Adversary: budget{Dups: 2}},
}))

// objectStates is less than usual, because processes make many requests.
const (
	objectStates = 40_000
	objectWalks  = 60
	whole        = 200_000 // more than a configuration has
)

// kept gives all configurations the same store.
func kept(prefix string, o explore.Objects, all []explore.Config) []explore.Config {
	for i := range all {
		all[i].Name = prefix + "-" + all[i].Name
		all[i].Objects = &o
		all[i].States, all[i].Walks = cmp.Or(all[i].States, objectStates), cmp.Or(all[i].Walks, objectWalks)
	}
	return all
}
