//go:build unix

package main

import (
	"slices"

	"locksmith/test/explorer/explore"
)

// A mutation is a way to build the algorithm wrongly. The explorer must find out that it is
// wrong. If it does not, a rule of the algorithm, or a part of the explorer, does nothing.
type mutation struct {
	name string
	// config is a regular expression for configurations. One of them must show a violation.
	config string
	// breaks is the property that does not hold any more, in the explorer's words.
	breaks string
	// in is the directory of the files, from the module's root.
	in    string
	edits []edit
	// limit is how many states to explore, if the usual number is not enough.
	limit int
}

// An edit changes the statement, or the clause, that follows the comment //rule:MARK in a function
// (overlay.Edit).
type edit struct {
	function, mark, new string
	in                  string // the package, from the mutation's directory; the same if empty
}

// change is an edit in the mutation's own directory.
func change(function, mark, new string) edit { return edit{function: function, mark: mark, new: new} }

// elsewhere is an edit in another directory, which is named from the mutation's.
func elsewhere(in, function, mark, new string) edit { return edit{function, mark, new, in} }

// What a mutation breaks, in the explorer's words.
const (
	twoHolders = "both hold the lock"
	tokenFell  = "was granted before"
	silentLoss = "succeeded, but somebody else got the lock" // the loser is not told
	undone     = "succeeded, but its reservation was gone"
	falseLoss  = "says that the lock is gone, but nobody had a reason" // to take it
	lateHold   = "is given a hold whose lease is over"
	earlyHold  = "is given a hold whose lease began before it tried"
	deadHold   = "is given a hold, but its entry was gone"
	robs       = "which is alive" // something of somebody is removed
	newestGone = "removes the newest generation"
	hitsNext   = "which is not what it was when looked at" // the lock that is removed
	takesEmpty = "an empty lock directory that is"         // somebody else's is removed, or replaced
	idAgain    = "uses an id again"
	stuck      = "not everybody ends"
	litter     = "left over at the end"
	fails      = "failed though nothing else did"
	keeps      = "keeps the kernel lock of"
	givesUp    = "gives up, " + explore.Unfinished
)

// The directories of the algorithms, from the module's root.
const (
	generationDir = "backends/generation/symlinks"
	mkdirDir      = "backends/mkdirlock"
	linkDir       = "backends/link"
	watchDir      = "backends/watch"
	objectsDir    = "backends/generation/objects"
	localDir      = "backends/local"
)

// mutations returns all mutations.
func mutations() []mutation {
	return slices.Concat(within(generationDir, generationMutations), within(mkdirDir, mkdirMutations), within(linkDir, linkMutations), within(objectsDir, objectMutations), within(localDir, kernelMutations), within(watchDir, memoryMutations))
}

func within(dir string, all []mutation) []mutation {
	all = slices.Clone(all)
	for i := range all {
		all[i].in = dir
	}
	return all
}

// judgedLate makes the watcher of others, which is in this directory, read the clock after its
// look.
func judgedLate(dir string) []edit {
	return []edit{elsewhere(dir, "Watcher.Look", "clock", ""),
		elsewhere(dir, "Watcher.Look", "before", "$old\n	before := w.request.Clock.Now()")}
}

// What both forms of numbered generations share, wrong.
var (
	refreshedLate = elsewhere("..", "Claim.Refresh", "overdue", "")
	removedNewest = elsewhere("../../tokens", "Numbers.RemoveOld", "kept", "if old > newest || i == most {$body}")
	keptNone      = elsewhere("../../tokens", "Numbers.RemoveOld", "kept", "if old >= newest || i == most {$body}")
)

// Two wishes are not in the table, because other rules cover them now: step 3 of
// a shared acquisition (the fresh listing, and the probe before it). As a shared
// directory is renamed into place with a member in it, and names never come
// back, a member that could be made proves that its generation has not ended.
// Step 3 matters when a shared directory comes back empty, which takes two
// requests that the server repeats (mkdir, then rename) long after.
var generationMutations = []mutation{
	{name: "release by unlinking the own generation", breaks: tokenFell, config: "xx", edits: []edit{change("hold.Release", "remove", "_ = l.Dir.Unlink(ctx, lockName(h.Number))\n	$old")}},

	{name: "no step 7", breaks: tokenFell, config: "collect", edits: []edit{change("attempt.confirm", "newest", "_ = newest")}},

	{name: "step 7 by the predecessor", breaks: tokenFell, config: "collect", edits: []edit{change("attempt.confirm", "newest", "_ = newest\n	if _, err := a.lock.Dir.Readlink(ctx, lockName(n - 1)); n > 1 && err != nil {\n		return nil, backend.ErrAgain\n	}")}},

	{name: "no step 8", breaks: twoHolders, config: "gap", edits: []edit{change("attempt.confirm", "beat", "")}},

	{name: "a refresh after the lease is good", breaks: falseLoss, config: "lease", edits: []edit{refreshedLate}},

	{name: "an id used again", breaks: twoHolders, config: "lease", edits: []edit{change("attempt.register", "id", "if a.place.id == \"\" {\n		a.place.id = a.lock.NewID()\n	}\n	env := a.lock.Env\n	env.NewID = func() string { return a.place.id }\n	r, record, err := backend.Signed(a.lock.Address, env, a.Request.Owner, owner.Record.Format)")}},

	{name: "break what the newest generation points to by then", breaks: robs, config: "lease", edits: []edit{change("attempt.breakDead", "remove", "if all, _, err := a.lock.list(ctx); err == nil && len(all) > 0 {\n		if now, err := a.lock.target(ctx, all.Newest()); err == nil {\n			e, s.Of.ticket = now, now.ticket\n		}\n	}\n	$old")}},

	{name: "collect the highest generation", breaks: tokenFell, config: "xx", edits: []edit{removedNewest}},

	{name: "no staging of a shared directory", breaks: twoHolders, config: "dup-revived", edits: []edit{change("attempt.publishShared", "staged", "_ = a.lock.remove(ctx, a.Mine.in, a.Mine.ticket)\n	err := a.lock.Dir.Mkdir(ctx, e.path())\n	if err == nil {\n		err = a.lock.Dir.Mkdir(ctx, e.member(a.Mine.ticket))\n	}")}},

	{name: "a generation that is not seen has ended", breaks: twoHolders, config: "tick-unclear", edits: []edit{change("attempt.takeExclusive", "unseen", "if err == backend.ErrAgain {\n			return a.publish(ctx, t + 1)\n		}\n		$old")}},

	{name: "age by the wall clock", breaks: robs, config: "xx", edits: []edit{change("Lock.see", "clock", "if l.Today().Sub(s.Beat) > t.lease {\n		s.Rules[0].Dead = true\n	}\n	$old")}},

	{name: "keep no old generations", breaks: tokenFell, config: "collect", edits: []edit{keptNone}},

	{name: "a heartbeat does not mind that its entry is gone", breaks: silentLoss, config: "lease|operator", edits: []edit{change("hold.Heartbeat", "gone", "case gone(err):\n		return nil")}},

	{name: "a release does not mind that its entry is gone", breaks: silentLoss, limit: 400_000, config: "operator", edits: []edit{change("hold.Release", "gone", "case absent(err):")}},

	{name: "a watch ends when it is judged, not when it looked", breaks: falseLoss, config: "half-watched", edits: judgedLate("../../watch")},

	{name: "a reservation is taken for made after an unclear answer", breaks: twoHolders, config: "late", edits: []edit{change("claim.ensure", "doubt", "if true {$body}")}},

	{name: "a reservation serves though no answer says that it was made", breaks: twoHolders, config: "deaf", edits: []edit{change("claim.ensure", "spoiled", "")}},

	{name: "a new sign of life does not restart the watch", breaks: falseLoss, config: "half", edits: []edit{change("Lock.see", "sign", "s := watch.Seen{ID: t.id, Sign: \"alive\", Lasting: watch.IsFine(sight.Modified), Lease: t.lease, Since: time.UnixMicro(t.at), Beat: sight.Modified,\n		Record: last.Record, Note: last.Note}")}},

	{name: "the reservation comes after the generation", breaks: twoHolders, config: "xx", edits: []edit{
		change("claim.dirs", "first", "return nil"),
		change("attempt.publish", "made", "if a.Mine.in.kind == exclusive {\n		_ = a.lock.Dir.Mkdir(ctx, a.Mine.in.path())\n	}\n	$old")}},

	{name: "a waiter removes one before it that lives", breaks: robs, config: "xxx", edits: []edit{change("attempt.living", "lives", "case s.Due < 1<<62:\n		$body")}},

	{name: "a turn begins when the predecessor has the lock, not when it ends", breaks: twoHolders, config: "xxx", edits: []edit{change("attempt.takeExclusive", "turn", "if !a.line.servedUpTo(target) {\n			if err := a.pass(ctx, t, target); err != nil {\n				return nil, err\n			}\n		}")}},

	{name: "a heartbeat does not look at its generation", breaks: silentLoss, config: "purge-hasty", edits: []edit{change("hold.Heartbeat", "generation", "return nil")}},

	{name: "a release does not look at its generation", breaks: silentLoss, config: "purge-hasty-release", edits: []edit{change("hold.Release", "look", "if false {$body}")}},

	{name: "what a held lock needs looks unused", breaks: robs, config: "purge", edits: []edit{change("hold.Tend", "keep", "")}},

	{name: "sweeping does not wait", breaks: robs, config: "tend", edits: []edit{change("tending.look", "lives", "if absent(err) || seen.Of.path == \"\" {$body}")}},
}
