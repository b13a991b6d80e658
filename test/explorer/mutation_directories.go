//go:build unix

package main

// mkdirMutations are wrong ways to lock with directories. Their files are in package mkdirlock.
var mkdirMutations = []mutation{
	{name: "commit with an empty reservation", breaks: twoHolders, config: "tree-xx", edits: []edit{
		change("attempt.reserve", "entry", "var entered error"),
		change("attempt.takeExclusive", "entered", "_ = a.dir.Mkdir(ctx, a.lock.lock()+\"/\"+a.mine.entry.String())\n		$old")}},

	{name: "a breaker owns the lock though the entry was gone", breaks: takesEmpty, config: "plain-wrong-three|plain-wrong-script", edits: []edit{change("attempt.breakPlain", "absent", "a.owned = true\n		return nil")}},

	{name: "every breaker removes the lock", breaks: takesEmpty, config: "plain-wrong-three|plain-wrong-script", edits: []edit{change("attempt.breakPlain", "own", "if err = a.lock.breakSeen(ctx, a.dir, s); err == nil || errors.Is(err, dirs.ErrAbsent) {\n		_ = a.dir.Rmdir(ctx, a.lock.lock())\n		dirs.Unpin(pin)\n		return backend.ErrAgain\n	}")}},

	{name: "empty an entry that was bare", breaks: robs, limit: 600_000, config: "tree-half|plain-half", edits: []edit{change("Lock.breakSeen", "bare", "return l.removeEntry(ctx, dir, s.Of.at, s.Of.entry.String(), nil)")}},

	{name: "a watch of directories ends when it is judged", breaks: falseLoss, limit: 150_000, config: "plain-half-prompt", edits: judgedLate("../watch")},

	{name: "no heartbeat after the rename", breaks: lateHold, config: "bare-lease|bare-xs", edits: []edit{change("attempt.enter", "beat", "")}},

	{name: "a heartbeat after the lease is good enough to begin with", breaks: lateHold, config: "tree-lease|plain-lease", edits: []edit{change("claim.refresh", "late", "")}},

	{name: "list before the own entry is made", breaks: twoHolders, config: "tree-xs", edits: []edit{
		change("attempt.takeShared", "list-after", "early, _ := a.dir.List(ctx, a.lock.lock())\n	$old"),
		change("attempt.takeShared", "list", "names, err := append(early, a.mine.entry.String()), error(nil)")}},

	{name: "share though the own entry is missing", breaks: deadHold, limit: 600_000, config: "bare-wrong-waiting", edits: []edit{
		change("attempt.takeShared", "there", "if a.mine.late() {$body}"),
		change("attempt.takeShared", "beats", "if false {$body}")}},

	{name: "share by a heartbeat of an earlier try", breaks: earlyHold, config: "bare-lease-waiting", edits: []edit{change("attempt.takeShared", "beats", "if false {$body}")}},

	{name: "no look at the own entry after the token", breaks: lateHold, config: "tree-lease", edits: []edit{change("attempt.withToken", "beat", "err = nil")}},

	{name: "an unclear gate is ours", breaks: takesEmpty, config: "ftp-lost-script", edits: []edit{change("attempt.makeLock", "unclear", "a.owned = true\n		return nil")}},

	{name: "after an unclear gate a lock that exists is ours", breaks: takesEmpty, config: "ftp-lost-script", edits: []edit{change("attempt.makeLock", "unclear", "if err := a.dir.Mkdir(ctx, a.lock.lock()); err == nil || dirs.Refused(err) {\n			a.owned = true\n			return nil\n		}\n		$old")}},

	{name: "remove the lock again after an unclear answer", breaks: takesEmpty, config: "ftp-lost-script", edits: []edit{change("hold.removeLock", "unclear", "case !dirs.Refused(err):\n		$body")}},

	{name: "an unclear commit has failed", breaks: litter, limit: 150_000, config: "ftp-lost-break|ftp-lost-withdraw", edits: []edit{change("attempt.commit", "unsure", "case dirs.Unclear(err):\n		a.mine, a.phase = nil, idle\n		return nil, backend.ErrAgain\n	case dirs.Refused(err):\n		a.phase = unsure\n		h, settled := a.settle(ctx)\n		if settled == backend.ErrAgain && dirs.Refused(err) && a.owned {\n			settled = a.tryOverwriting(ctx)\n		}\n		return h, settled")}},

	{name: "keep the lock when the entry is nowhere", breaks: takesEmpty, limit: 150_000, config: "ftp-lost-broken", edits: []edit{change("attempt.settle", "home", "err = a.mustBeHome(ctx)")}},

	{name: "remove the lock though the entry may have been removed by others", breaks: takesEmpty, limit: 150_000, config: "ftp-lost-break", edits: []edit{change("hold.removeEntry", "doubt", "h.stage = emptied")}},

	{name: "remove the lock though the entry was removed by others", breaks: takesEmpty, config: "plain-wrong-.*", edits: []edit{change("hold.removeEntry", "gone", "case errors.Is(err, dirs.ErrAbsent):\n		h.stage = emptied")}},

	{name: "an id of directories used again", breaks: robs, limit: 150_000, config: "plain-lease|tree-lease", edits: []edit{change("attempt.newClaim", "id", "if a.request.Owner.ID == \"\" {\n		a.request.Owner.ID = a.lock.NewID()\n	}\n	env := a.lock.Env\n	env.NewID = func() string { return a.request.Owner.ID }\n	r, parts, err := backend.Signed(a.lock.Address, env, a.request.Owner, labels.Pack)")}},

	{name: "a heartbeat by a fixed name", breaks: robs, limit: 150_000, config: "plain-half-prompt", edits: []edit{change("claim.count", "count", "name := labels.BeatName(0, c.parts)")}},

	{name: "a heartbeat does not mind that its entry of directories is gone", breaks: silentLoss, limit: 150_000, config: "plain-lease|plain-operator", edits: []edit{change("claim.whyRefused", "gone", "return nil")}},

	{name: "tending to directories does not wait", breaks: robs, config: "tree-tend|plain-tend", edits: []edit{change("hold.tendReservation", "lives", "case overIn(s) < 0 && s.Verdict == owner.Dead:\n		$body")}},

	{name: "who waits gives no sign of life", breaks: robs, config: "tree-tend-long", edits: []edit{change("attempt.untilBeat", "shown", "return a.mine.Confirmed + a.lock.waiterBeats(a.mine.entry.Ticket) - a.request.Clock.Now()")}},

	{name: "commit a reservation that may be gone", breaks: stuck, config: "plain-operator-waiter|plain-wrong-sweep", edits: []edit{change("attempt.commit", "fresh", "if asNew && a.phase != fresh {$body}")}},

	{name: "commit in one step a reservation that may be gone", breaks: stuck, limit: 200_000, config: "unmarked-operator-waiting", edits: []edit{change("attempt.commit", "fresh", "if !asNew && (a.phase != fresh || a.mine.Overdue()) {$body}")}},

	{name: "settle while withdrawing", breaks: stuck, config: "ftp-lost-one", edits: []edit{change("attempt.takeAnew", "leaving", "if a.phase == leaving {\n		a.phase = unsure\n	}\n	if a.mine == nil {\n		if err := a.withdraw(ctx); err != nil {\n			return nil, err\n		}\n	}")}},

	{name: "empty locks are in the way of their owners", breaks: stuck, config: "ftp-refuse-lost-script", edits: []edit{change("attempt.passGate", "own-empty", "return nil")}},

	{name: "what its owner empties cannot be removed", breaks: fails, config: "plain-wrong", edits: []edit{change("Lock.removeEntry", "why", "if why := l.whyRefused(ctx, dir, path, err); i >= 0 {$body}")}},

	{name: "empty reservations stay", breaks: litter, config: "tree-crash.*", edits: []edit{change("hold.tendReservation", "empty", "return false, nil")}},

	{name: "break without a pin", breaks: takesEmpty, limit: 200_000, config: "disk-crashes", edits: []edit{
		change("attempt.breakPlain", "pin", "pin, err := io.Closer(nil), error(nil)"),
		change("import", "attempt.breakPlain", `"io"`)}},

	{name: "break with a pin that is closed too early", breaks: takesEmpty, limit: 200_000, config: "disk-crashes", edits: []edit{change("attempt.breakPlain", "keep-pin", "dirs.Unpin(pin)\n		a.own(nil)")}},

	{name: "a break by hand without a pin", breaks: takesEmpty, limit: 600_000, config: "disk-crash-operator", edits: []edit{change("Lock.Strike", "pin", "dirs.Unpin(pin)")}},

	{name: "a reservation that is marked but not pinned", breaks: takesEmpty, config: "disk-xx", edits: []edit{change("attempt.reserve", "pin", "$old\n		c.unpin()")}},

	{name: "the pin ends before the lock is removed", breaks: takesEmpty, config: "disk-xx", edits: []edit{change("hold.Release", "pinned", "h.claim.unpin()\n	$old")}},

	{name: "the one step replaces what is there", breaks: takesEmpty, config: "disk-script", edits: []edit{change("attempt.move", "new", "return a.dir.Rename(ctx, a.mine.home, a.lock.lock())")}},

	{name: "no gate where there is no one step", breaks: takesEmpty, config: "two-steps-script", edits: []edit{change("attempt.commit", "gate", "$old\n		if err = a.dir.Rename(ctx, a.mine.home, a.lock.lock()); err == nil {\n			return a.enter(ctx)\n		}\n		return nil, a.taken(ctx, err)")}},

	{name: "break an empty lock", breaks: takesEmpty, config: "plain-script", edits: []edit{change("attempt.survey", "empty", "_ = a.dir.Rmdir(ctx, a.lock.lock())\n		return backend.ErrAgain")}},
}
