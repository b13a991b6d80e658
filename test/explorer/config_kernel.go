//go:build unix

package main

import (
	"cmp"
	"strconv"

	"locksmith/test/explorer/actors"
	"locksmith/test/explorer/explore"
)

// mate is one of several processes of one machine.
func mate() actors.Role { return by(kernel, exclusive(0)) }

// byHand is somebody who removes the lock file by hand.
func byHand() actors.Role {
	r := by(newHand, exclusive(0))
	r.Short, r.Sturdy = true, true
	return r
}

// The lock is a file of one machine. The names end with how many may watch it.
var smallKernel = leased(concat(
	seated("local", 2, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, mate()), rounds(2, mate()))},
		{Name: "beat", Roles: roles(beating(1, mate()), mate()), Adversary: budget{Full: 1}},
		{Name: "crash", Roles: roles(mate(), mate()), Adversary: budget{Crashes: 1, Short: 1}},
		{Name: "short", Roles: roles(mate(), mate()), Adversary: budget{Short: 2}},
		{Name: "one-try", Roles: roles(mate(), shortly(2, mate())), Adversary: budget{Crashes: 1}},
	}),
	seated("local", 1, []explore.Config{
		{Name: "xxx", Roles: roles(mate(), mate(), mate())},
		{Name: "crash-three", Roles: roles(mate(), mate(), mate()), Adversary: budget{Crashes: 1}},
		{Name: "dead", Prelude: first, Fallen: first, Roles: roles(mate(), mate(), mate())},
		{Name: "queue", Prelude: []int{0, 1, 2}, Roles: roles(mate(), mate(), mate(), mate())},
	}),
	seated("local", 0, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, mate()), rounds(2, mate()))},
		{Name: "xxx", Roles: roles(rounds(2, mate()), mate(), mate())},
		{Name: "queue", Prelude: []int{0, 1, 2}, Roles: roles(rounds(2, mate()), mate(), mate())},
		{Name: "turns", States: 120_000, Prompt: true, Prelude: []int{0, 1}, Roles: roles(mate(), mate(), mate()), Adversary: budget{Full: 1}},
		{Name: "nap", Prelude: []int{0, 1}, Roles: roles(mate(), mate(), mate()), Adversary: budget{Full: 2}},
		{Name: "withdraw", Prelude: []int{0, 1}, Roles: roles(mate(), impatient(rounds(2, mate())), mate()), Adversary: budget{Full: 1}},
		{Name: "dead", Prelude: []int{0, 1, 2}, Fallen: first, Roles: roles(mate(), mate(), mate())},
		{Name: "crash", Prelude: []int{0, 1}, Roles: roles(mate(), mate(), mate()), Adversary: budget{Crashes: 1}},
	}),
	// A process that removes the lock by its path may be stopped after its look, while a person
	// removes the file and another process makes its own.
	limited(explore.Meanwhile, concat(
		seated("local-hand", 1, []explore.Config{
			{Name: "beat", Meets: hits(1, 2), Roles: roles(beating(1, mate()), mate(), byHand())},
		}),
		seated("local-hand", 0, []explore.Config{
			{Name: "queue", Prelude: []int{0, 1}, Meets: hits(1, 3), Roles: roles(beating(1, mate()), mate(), mate(), byHand())},
		}),
	)),
	// A process has the kernel lock of a dead holder's file, and is stopped before it has removed
	// the file.
	limited(explore.Stopped, seated("local-stopped", 0, []explore.Config{
		{Name: "dead", Prelude: []int{0, 1, 2}, Fallen: first, Meets: []string{"P3 waits for P2, " + explore.Stopped}, Roles: roles(mate(), mate(), mate())},
	})),
))

var largeKernel = leased(limited(explore.Meanwhile, seated("large-local", 1, []explore.Config{
	{Name: "crowd", Roles: roles(rounds(3, beating(1, mate())), rounds(3, mate()), rounds(3, mate()), impatient(rounds(3, mate())), rounds(2, mate()), byHand()),
		Adversary: budget{Crashes: 2, Short: 4, Half: 4, Full: 3}},
})))

// kernelStates is less than usual, because processes make many calls.
const kernelStates = 60_000

// seated says how many may watch the lock.
func seated(prefix string, seats int, all []explore.Config) []explore.Config {
	for i := range all {
		all[i].Name = prefix + "-" + all[i].Name + "-" + strconv.Itoa(seats)
		all[i].Kernel, all[i].NoTokens = &explore.Kernel{Seats: seats}, true
		all[i].States = cmp.Or(all[i].States, kernelStates)
	}
	return all
}
