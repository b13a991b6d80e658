//go:build unix

package main

import (
	"cmp"
	"slices"

	"locksmith/test/explorer/actors"
	"locksmith/test/explorer/explore"
)

// by is a role with another lock.
func by(s actors.System, r actors.Role) actors.Role { r.System = s; return r }

// ours is one of our processes, in plain style.
func ours(host int) actors.Role { return by(plain, exclusive(host)) }

// near is one of our processes, in plain style, on a disk.
func near(host int) actors.Role { return by(disk, exclusive(host)) }

// theirs is a script, which knows only mkdir and rmdir.
func theirs(host int) actors.Role {
	r := by(newScript, exclusive(host))
	r.Script = true
	return r
}

// alone and joint are two of our processes in dir style: exclusive and shared.
func alone(host int) actors.Role { return by(tree, exclusive(host)) }
func joint(host int) actors.Role { return by(tree, shared(host)) }

// cleaning makes a role hold for several leases, and sweep.
func cleaning(r actors.Role) actors.Role { r.Cleaner = true; return r }

// wrongly makes a role take everybody for dead.
func wrongly(r actors.Role) actors.Role { r.Misjudges = true; return r }

// evictor is an operator who breaks waiters before holders.
func evictor(s actors.System, host int) actors.Role {
	r := by(s, operator(host))
	r.Waiters = true
	return r
}

var smallDirectories = leased(concat(
	styled("plain", explore.Directories{Lock: lockName, Plain: true}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, ours(0)), rounds(2, ours(1)))},
		{Name: "xxx", Roles: roles(ours(0), ours(1), ours(2))},
		{Name: "script", Roles: roles(rounds(2, ours(0)), rounds(2, theirs(1)))},
		{Name: "scripts", Roles: roles(ours(0), theirs(1), theirs(2))},
		{Name: "one-host", Roles: roles(ours(0), ours(0), theirs(1)), Adversary: budget{Crashes: 1}},
		{Name: "crash", Roles: roles(ours(0), ours(1)), Adversary: budget{Crashes: 1, Full: 1}},
		{Name: "lease", Roles: roles(beating(1, ours(0)), ours(1)), Adversary: budget{Full: 1}},
		{Name: "lease-three", Prompt: true, Roles: roles(ours(0), ours(1), ours(2)), Adversary: budget{Full: 1}},
		{Name: "lease-script", Prompt: true, Roles: roles(ours(0), ours(1), rounds(2, theirs(2))), Adversary: budget{Full: 1}},
		{Name: "half", Roles: roles(beating(1, ours(0)), ours(1)), Adversary: budget{Half: 2}},
		{Name: "half-prompt", Prompt: true, Prelude: []int{0, 1}, Roles: roles(beating(2, ours(0)), ours(1)), Adversary: budget{Half: 3}, States: 12_000},
		{Name: "wrong", Roles: roles(beating(1, ours(0)), wrongly(ours(1)))},
		{Name: "wrong-both", Roles: roles(wrongly(ours(0)), wrongly(ours(1)))},
		{Name: "wrong-three", Roles: roles(beating(1, ours(0)), wrongly(ours(1)), wrongly(ours(2)))},
		{Name: "wrong-script", Roles: roles(ours(0), wrongly(ours(1)), theirs(2))},
		{Name: "wrong-sweep", Roles: roles(tending(wrongly(ours(0))), ours(1))},
		{Name: "operator", Roles: roles(beating(1, ours(0)), ours(1), by(plain, operator(2)))},
		{Name: "operator-script", Roles: roles(ours(0), rounds(2, theirs(1)), by(plain, operator(2)))},
		{Name: "operator-waiter", Roles: roles(ours(0), ours(1), evictor(plain, 2))},
		{Name: "withdraw", Roles: roles(impatient(ours(0)), ours(1), theirs(2))},
		{Name: "tend", Roles: roles(tending(ours(0)), ours(0)), Adversary: budget{Crashes: 1, Full: 1}},
		{Name: "tend-long", Roles: roles(cleaning(ours(0)), ours(1), theirs(2)), States: 20_000},
		{Name: "lost", Roles: roles(ours(0), ours(1)), Adversary: budget{Lost: 1}},
		{Name: "lost-script", Roles: roles(ours(0), theirs(1)), Adversary: budget{Lost: 1}},
		{Name: "lost-lease", Prompt: true, Roles: roles(ours(0), ours(1)), Adversary: budget{Lost: 1, Full: 1}},
		{Name: "dup", Roles: roles(ours(0), ours(1)), Adversary: budget{Dups: 1}},
		{Name: "dup-script", Roles: roles(ours(0), rounds(2, theirs(1))), Adversary: budget{Dups: 1}},
		{Name: "late", Roles: roles(ours(0), ours(1)), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "stale", Roles: roles(rounds(2, ours(0)), ours(1)), Adversary: budget{Stale: always}},
		{Name: "torn", Roles: roles(beating(1, ours(0)), ours(1)), Adversary: budget{Torn: 2}},
		{Name: "purge", Prompt: true, Prelude: first, PurgeAge: 2 * lease, Jumps: almost, Roles: roles(tending(beating(2, ours(0)))), Adversary: budget{Purges: 1, Short: 1, Half: 2}},
		{Name: "purge-hasty", Prompt: true, Prelude: first, PurgeAge: lease / 2, Roles: roles(beating(1, ours(0)), ours(1)), Adversary: budget{Purges: 1, Short: 1, Half: 1}},
		{Name: "short", Prompt: true, Prelude: first, Roles: roles(beating(1, ours(0)), shortly(3, ours(1))), Adversary: budget{Half: 2}},
		{Name: "short-hosts", Prelude: first, Roles: roles(ours(0), shortly(2, ours(1)), shortly(2, ours(2)))},
		{Name: "short-next", Prompt: true, Prelude: []int{0, 0, 1, 0}, Roles: roles(rounds(2, beating(1, ours(0))), shortly(1, ours(1)), shortly(1, ours(1))), Adversary: budget{Half: 2}},
		{Name: "short-respite", Prompt: true, Prelude: first, Roles: roles(ours(0), sparing(shortly(3, ours(1)))), Adversary: budget{Short: 1, Full: 1}},
		{Name: "short-torn", Prompt: true, Prelude: first, Roles: roles(beating(2, ours(0)), shortly(3, ours(1))), Adversary: budget{Half: 2, Torn: 1}},
	}),
	styled("disk", explore.Directories{Lock: lockName, Plain: true}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, near(0)), rounds(2, near(0)))},
		{Name: "xxx", Roles: roles(near(0), near(0), near(0))},
		{Name: "script", Roles: roles(rounds(2, near(0)), rounds(2, theirs(0)))},
		{Name: "scripts", Roles: roles(near(0), theirs(0), theirs(0))},
		{Name: "crash", Roles: roles(near(0), near(0)), Adversary: budget{Crashes: 1}},
		{Name: "crash-script", Roles: roles(near(0), near(0), theirs(0)), Adversary: budget{Crashes: 1}},
		{Name: "crashes", Roles: roles(near(0), near(0), near(0)), Adversary: budget{Crashes: 2}},
		{Name: "crashes-script", Roles: roles(near(0), near(0), rounds(2, sturdy(theirs(0)))), Adversary: budget{Crashes: 2}},
		{Name: "crashes-wrong", Roles: roles(near(0), wrongly(near(1)), near(0), sturdy(theirs(2))), Adversary: budget{Crashes: 2}},
		{Name: "crashes-lease", Prompt: true, Roles: roles(near(0), near(1), near(2), sturdy(theirs(2))), Adversary: budget{Crashes: 1, Full: 1}},
		{Name: "crash-operator", Roles: roles(near(0), near(0), by(disk, operator(0))), Adversary: budget{Crashes: 1}},
		{Name: "crash-lost", Roles: roles(near(0), near(0), sturdy(theirs(0))), Adversary: budget{Crashes: 1, Lost: 1}},
		{Name: "lease", Roles: roles(beating(1, near(0)), near(1)), Adversary: budget{Full: 1}},
		{Name: "lease-script", Prompt: true, Roles: roles(near(0), near(1), rounds(2, theirs(2))), Adversary: budget{Full: 1}},
		{Name: "wrong", Roles: roles(beating(1, near(0)), wrongly(near(1)))},
		{Name: "wrong-three", Roles: roles(beating(1, near(0)), wrongly(near(1)), wrongly(near(2)))},
		{Name: "wrong-script", Roles: roles(near(0), wrongly(near(1)), theirs(2))},
		{Name: "operator", Roles: roles(beating(1, near(0)), near(1), by(disk, operator(2)))},
		{Name: "operator-script", Roles: roles(near(0), rounds(2, theirs(1)), by(disk, operator(2)))},
		{Name: "operator-waiter", Roles: roles(near(0), near(1), evictor(disk, 2))},
		{Name: "operator-waiting", Prelude: []int{0, 1}, Roles: roles(near(0), near(1), evictor(disk, 2))},
		{Name: "withdraw", Roles: roles(impatient(near(0)), near(1), theirs(2))},
		{Name: "tend", Roles: roles(tending(near(0)), near(0)), Adversary: budget{Crashes: 1, Full: 1}},
		{Name: "lost", Roles: roles(near(0), near(1)), Adversary: budget{Lost: 1}},
		{Name: "lost-script", Roles: roles(near(0), theirs(1)), Adversary: budget{Lost: 1}},
		{Name: "torn", Roles: roles(beating(1, near(0)), near(1)), Adversary: budget{Torn: 2}},
	}),
	styled("unmarked", explore.Directories{Lock: lockName, Plain: true, Unmarked: true}, []explore.Config{
		{Name: "crash", Roles: roles(near(0), near(0), theirs(0)), Adversary: budget{Crashes: 1}},
		{Name: "operator-waiting", Prelude: []int{0, 1}, Roles: roles(near(0), near(1), evictor(disk, 2))},
	}),
	styled("two-steps", explore.Directories{Lock: lockName, Plain: true, TwoSteps: true}, []explore.Config{
		{Name: "script", Roles: roles(rounds(2, near(0)), rounds(2, theirs(1)))},
		{Name: "crash", Roles: roles(near(0), near(1), theirs(2)), Adversary: budget{Crashes: 1, Full: 1}},
		{Name: "wrong", Roles: roles(near(0), wrongly(near(1)), theirs(2))},
	}),
	styled("ftp", explore.Directories{Lock: lockName, Plain: true, Session: true}, []explore.Config{
		{Name: "lost", Roles: roles(ours(0), ours(1)), Adversary: budget{Lost: 2}},
		{Name: "lost-one", Roles: roles(ours(0)), Adversary: budget{Lost: 2}},
		{Name: "lost-script", Roles: roles(ours(0), theirs(1)), Adversary: budget{Lost: 2}},
		{Name: "lost-break", Roles: roles(ours(0), wrongly(ours(1))), Adversary: budget{Lost: 1}},
		{Name: "lost-break-script", Roles: roles(ours(0), wrongly(ours(1)), theirs(2)), Adversary: budget{Lost: 1}},
		{Name: "lost-broken", Prelude: []int{1, 0}, Roles: roles(ours(0), rounds(2, wrongly(ours(1)))), Adversary: budget{Lost: 1}},
		{Name: "lost-crash", Roles: roles(ours(0), ours(0)), Adversary: budget{Lost: 1, Crashes: 1}},
		{Name: "lost-withdraw", Roles: roles(impatient(ours(0)), theirs(1)), Adversary: budget{Lost: 2}},
		{Name: "lost-operator", Roles: roles(ours(0), ours(1), by(plain, operator(2))), Adversary: budget{Lost: 1}},
		{Name: "lost-lease", Prompt: true, Roles: roles(ours(0), ours(1)), Adversary: budget{Lost: 1, Full: 1}},
		{Name: "torn-break", Roles: roles(beating(1, ours(0)), wrongly(ours(1))), Adversary: budget{Torn: 2}},
	}),
	styled("ftp-empty", explore.Directories{Lock: lockName, Plain: true, Session: true, MissingIsEmpty: true}, []explore.Config{
		{Name: "xs", Roles: roles(rounds(2, ours(0)), rounds(2, theirs(1)))},
		{Name: "wrong", Roles: roles(ours(0), wrongly(ours(1)), theirs(2))},
		{Name: "lost", Roles: roles(ours(0), ours(1)), Adversary: budget{Lost: 1}},
	}),
	styled("ftp-refuse-lists", explore.Directories{Lock: lockName, Plain: true, Session: true, EmptyIsMissing: true}, []explore.Config{
		{Name: "xs", Roles: roles(rounds(2, ours(0)), rounds(2, theirs(1)))},
		{Name: "wrong", Roles: roles(ours(0), wrongly(ours(1)), theirs(2))},
		{Name: "lost", Roles: roles(ours(0), ours(1)), Adversary: budget{Lost: 1}},
	}),
	styled("ftp-refuse", explore.Directories{Lock: lockName, Plain: true, Session: true, NoReplace: true}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, ours(0)), ours(1))},
		{Name: "script", Roles: roles(rounds(2, ours(0)), rounds(2, theirs(1)))},
		{Name: "scripts", Roles: roles(ours(0), ours(1), theirs(2))},
		{Name: "wrong", Roles: roles(ours(0), wrongly(ours(1))), States: 8_000},
		{Name: "wrong-script", Roles: roles(ours(0), wrongly(ours(1)), theirs(2))},
		{Name: "crash", Roles: roles(ours(0), ours(0)), Adversary: budget{Crashes: 1}},
		{Name: "withdraw", Roles: roles(impatient(ours(0)), theirs(1))},
		{Name: "operator-waiter", Roles: roles(ours(0), ours(1), evictor(plain, 2))},
		{Name: "lost", Roles: roles(ours(0), ours(1)), Adversary: budget{Lost: 1}},
		{Name: "lost-script", Roles: roles(ours(0), theirs(1)), Adversary: budget{Lost: 1}},
	}),
	styled("ftp-tree", explore.Directories{Lock: lockName + "/lock", Session: true}, []explore.Config{
		{Name: "lost", Roles: roles(alone(0), alone(1)), Adversary: budget{Lost: 2}},
		{Name: "lost-shared", Roles: roles(joint(0), alone(1)), Adversary: budget{Lost: 2}},
		{Name: "lost-ss", Roles: roles(joint(0), joint(1)), Adversary: budget{Lost: 2}},
	}),
	styled("ftp-tree-empty", explore.Directories{Lock: lockName + "/lock", Session: true, MissingIsEmpty: true}, []explore.Config{
		{Name: "xs", Roles: roles(rounds(2, alone(0)), joint(1))},
	}),
	styled("ftp-tree-refuse-lists", explore.Directories{Lock: lockName + "/lock", Session: true, EmptyIsMissing: true}, []explore.Config{
		{Name: "xs", Roles: roles(rounds(2, alone(0)), joint(1))},
	}),
	styled("ftp-tree-refuse", explore.Directories{Lock: lockName + "/lock", Session: true, NoReplace: true}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, alone(0)), alone(1))},
		{Name: "xs", Roles: roles(alone(0), joint(1))},
		{Name: "lost", Roles: roles(alone(0), joint(1)), Adversary: budget{Lost: 1}},
	}),
	styled("bare", explore.Directories{Lock: lockName + "/lock"}, untold([]explore.Config{
		{Name: "lease", Roles: roles(beating(1, by(bare, exclusive(0))), by(bare, exclusive(1))), Adversary: budget{Full: 1}},
		{Name: "xs", Roles: roles(by(bare, exclusive(0)), rounds(2, by(bare, shared(1))))},
		{Name: "wrong-waiting", Roles: roles(by(bare, exclusive(0)), by(bare, shared(1)), wrongly(by(bare, exclusive(2))))},
		{Name: "lease-waiting", Roles: roles(by(bare, exclusive(0)), by(bare, shared(1))), Adversary: budget{Short: 1}},
	})),
	styled("tree", explore.Directories{Lock: lockName + "/lock"}, []explore.Config{
		{Name: "xx", Roles: roles(rounds(2, alone(0)), rounds(2, alone(1)))},
		{Name: "xxx", Roles: roles(alone(0), alone(1), alone(2))},
		{Name: "xs", Roles: roles(alone(0), joint(1))},
		{Name: "ss", Roles: roles(joint(0), joint(1))},
		{Name: "ssx", Roles: roles(joint(0), joint(1), alone(2))},
		{Name: "one-host", Roles: roles(alone(0), alone(0), joint(1)), Adversary: budget{Crashes: 1}},
		{Name: "crash", Roles: roles(alone(0), alone(1)), Adversary: budget{Crashes: 1, Full: 1}},
		{Name: "crash-shared", Roles: roles(joint(0), alone(0)), Adversary: budget{Crashes: 1}},
		{Name: "lease", Roles: roles(beating(1, alone(0)), alone(1)), Adversary: budget{Full: 1}},
		{Name: "lease-shared", Roles: roles(beating(1, joint(0)), alone(1)), Adversary: budget{Full: 1}},
		{Name: "half", Prompt: true, Roles: roles(beating(1, alone(0)), alone(1)), Adversary: budget{Half: 2}},
		{Name: "half-shared", Prompt: true, Roles: roles(joint(0), alone(1)), Adversary: budget{Half: 2}},
		{Name: "wrong", Roles: roles(beating(1, alone(0)), wrongly(alone(1))), States: 15_000},
		{Name: "wrong-shared", Roles: roles(beating(1, joint(0)), wrongly(alone(1)))},
		{Name: "wrong-sweep", Roles: roles(tending(wrongly(alone(0))), alone(1))},
		{Name: "wrong-three", Roles: roles(alone(0), wrongly(alone(1)), wrongly(joint(2)))},
		{Name: "operator", Roles: roles(beating(1, alone(0)), alone(1), by(tree, operator(2)))},
		{Name: "operator-shared", Roles: roles(beating(1, joint(0)), alone(1), by(tree, operator(2)))},
		{Name: "operator-waiter", Roles: roles(alone(0), alone(1), evictor(tree, 2))},
		{Name: "withdraw", Roles: roles(impatient(alone(0)), impatient(joint(1)), alone(2))},
		{Name: "fairness", Roles: roles(alone(0), alone(1), joint(2)), Adversary: budget{Short: 1}},
		{Name: "tend", Roles: roles(tending(alone(0)), alone(1)), Adversary: budget{Full: 1}},
		{Name: "tend-crash", Roles: roles(tending(alone(0)), alone(0)), Adversary: budget{Crashes: 1, Full: 1}},
		{Name: "tend-long", Roles: roles(cleaning(alone(0)), alone(1), joint(2)), States: 20_000},
		{Name: "purge", Prompt: true, Prelude: first, PurgeAge: 2 * lease, Jumps: almost, Roles: roles(tending(beating(2, alone(0)))), Adversary: budget{Purges: 1, Short: 1, Half: 2}},
		{Name: "purge-shared", Prompt: true, Prelude: first, PurgeAge: 2 * lease, Jumps: almost, Roles: roles(tending(beating(2, joint(0)))), Adversary: budget{Purges: 1, Short: 1, Half: 2}},
		{Name: "purge-hasty", Prompt: true, Prelude: first, PurgeAge: lease / 2, Roles: roles(beating(1, joint(0)), alone(1)), Adversary: budget{Purges: 1, Short: 1, Half: 1}},
		{Name: "lost", Roles: roles(alone(0), alone(1)), Adversary: budget{Lost: 1}},
		{Name: "lost-shared", Roles: roles(joint(0), alone(1)), Adversary: budget{Lost: 1}},
		{Name: "dup", Roles: roles(alone(0), alone(1)), Adversary: budget{Dups: 1}},
		{Name: "dup-shared", Roles: roles(joint(0), alone(1)), Adversary: budget{Dups: 1}},
		{Name: "late", Roles: roles(alone(0), alone(1)), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "late-shared", Roles: roles(joint(0), alone(1)), Adversary: budget{Lost: 1, Dups: 1}},
		{Name: "stale", Roles: roles(rounds(2, alone(0)), alone(1)), Adversary: budget{Stale: always}},
		{Name: "torn", Roles: roles(alone(0), alone(1)), Adversary: budget{Torn: 2}},
		{Name: "torn-shared", Roles: roles(joint(0), alone(1)), Adversary: budget{Torn: 1}},
	}),
))

// knownLimits are worlds in which plain style does not exclude. A request to make or remove the
// lock itself names nobody. If the network repeats it, it hits whoever has the lock by then.
var knownLimits = leased(styled("limit", explore.Directories{Lock: lockName, Plain: true, Careless: true}, []explore.Config{
	{Name: "dup-scripts", Roles: roles(ours(0), theirs(1), theirs(2)), Adversary: budget{Dups: 1}},
	{Name: "dup", Roles: roles(rounds(2, ours(0)), ours(1)), Adversary: budget{Dups: 1}},
}))

// directoryStates is less than usual: there are many configurations, and their processes make
// more calls.
const (
	directoryStates = 40_000
	directoryWalks  = 8
)

var largeDirectories = leased(concat(
	styled("large-plain", explore.Directories{Lock: lockName, Plain: true}, []explore.Config{
		{Name: "nfs", Roles: roles(rounds(3, beating(1, ours(0))), rounds(3, tending(ours(1))), impatient(rounds(3, ours(1))), rounds(4, theirs(2)), by(plain, operator(2))),
			Adversary: everything},
		{Name: "wrong", Roles: roles(rounds(3, beating(1, ours(0))), rounds(3, wrongly(ours(1))), rounds(3, wrongly(ours(2))), rounds(4, theirs(2)), evictor(plain, 2)),
			Adversary: everything},
	}),
	styled("large-disk", explore.Directories{Lock: lockName, Plain: true}, []explore.Config{
		{Name: "plain", Roles: roles(rounds(3, beating(1, near(0))), rounds(3, tending(near(0))), impatient(rounds(3, wrongly(near(1)))), rounds(4, sturdy(theirs(2))), by(disk, operator(2))),
			Adversary: budget{Crashes: 3, Torn: 6, Short: 4, Half: 4, Full: 3}},
	}),
	styled("large-ftp", explore.Directories{Lock: lockName, Plain: true, Session: true}, []explore.Config{
		{Name: "plain", Roles: roles(rounds(3, beating(1, ours(0))), rounds(3, ours(1)), impatient(rounds(3, ours(1))), rounds(4, theirs(2)), rounds(3, wrongly(ours(2)))),
			Adversary: sessions},
	}),
	styled("large-ftp-refuse", explore.Directories{Lock: lockName, Plain: true, Session: true, NoReplace: true}, []explore.Config{
		{Name: "operator-waiter", Roles: roles(rounds(4, ours(0)), ours(1), evictor(plain, 2))},
		{Name: "plain", Roles: roles(rounds(3, beating(1, ours(0))), rounds(3, ours(1)), impatient(rounds(3, ours(1))), rounds(4, theirs(2))),
			Adversary: sessions},
	}),
	styled("large-tree", explore.Directories{Lock: lockName + "/lock"}, []explore.Config{
		{Name: "nfs", Roles: roles(rounds(3, beating(1, alone(0))), rounds(3, tending(joint(1))), impatient(rounds(3, alone(1))), rounds(3, beating(1, joint(2))), by(tree, operator(2))),
			Adversary: everything},
		{Name: "wrong", Roles: roles(rounds(3, beating(1, alone(0))), rounds(3, wrongly(joint(1))), rounds(3, wrongly(alone(1))), rounds(3, joint(2)), evictor(tree, 2)),
			Adversary: everything},
	}),
	styled("large-ftp", explore.Directories{Lock: lockName + "/lock", Session: true}, []explore.Config{
		{Name: "tree", Roles: roles(rounds(3, beating(1, alone(0))), rounds(3, tending(joint(1))), impatient(rounds(3, alone(1))), rounds(3, beating(1, joint(2)))),
			Adversary: sessions},
	}),
))

// sessions is everything that can go wrong if requests are not repeated and nothing is cached.
var sessions = budget{Crashes: 2, Lost: 4, Torn: 6, Short: 4, Half: 4, Full: 3}

func concat(all ...[]explore.Config) []explore.Config { return slices.Concat(all...) }

// untold makes locks have no tokens.
func untold(all []explore.Config) []explore.Config {
	for i := range all {
		all[i].NoTokens = true
	}
	return all
}

// styled gives all configurations the same style and server.
func styled(prefix string, d explore.Directories, all []explore.Config) []explore.Config {
	for i := range all {
		all[i].Name = prefix + "-" + all[i].Name
		all[i].Directories, all[i].NoTokens = &d, d.Plain || all[i].NoTokens
		all[i].States, all[i].Walks = cmp.Or(all[i].States, directoryStates), directoryWalks
	}
	return all
}
