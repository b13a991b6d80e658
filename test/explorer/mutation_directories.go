package main

// mkdirMutations are wrong ways to lock with directories. Their files are in package mkdirlock.
var mkdirMutations = []mutation{
	{name: "commit with an empty reservation", breaks: twoHolders, config: "tree-xx", edits: []edit{
		{"reserve.go", "	entered := a.dir.Mkdir(ctx, c.path())\n", "	var entered error\n"},
		{"dirstyle.go", "	case err == nil:\n		return a.enterDirStyle(ctx)\n",
			"	case err == nil:\n		_ = a.dir.Mkdir(ctx, a.lock.lock()+\"/\"+a.mine.entry.String())\n		return a.enterDirStyle(ctx)\n"}}},

	{name: "a breaker owns the lock though the entry was gone", breaks: takesEmpty, config: "plain-wrong-three|plain-wrong-script", edits: []edit{{"plain.go",
		"	case errors.Is(err, dirs.ErrAbsent):\n		return backend.ErrAgain\n	case errors.Is(err, dirs.ErrRevived):",
		"	case errors.Is(err, dirs.ErrAbsent):\n		a.owned = true\n		return nil\n	case errors.Is(err, dirs.ErrRevived):"}}},

	{name: "every breaker removes the lock", breaks: takesEmpty, config: "plain-wrong-three|plain-wrong-script", edits: []edit{
		{"plain.go", "a.dir, s); err == nil {\n		a.own(pin)\n		a.request.TellBroken(string(a.lock.Address), s.Holder(a.lock.Today()))\n		return nil\n",
			"a.dir, s); err == nil || errors.Is(err, dirs.ErrAbsent) {\n		_ = a.dir.Rmdir(ctx, a.lock.lock())\n		dirs.Unpin(pin)\n		return backend.ErrAgain\n"}}},

	{name: "empty an entry that was bare", breaks: robs, limit: 600_000, config: "tree-half|plain-half", edits: []edit{{"break.go",
		"	return l.removeBare(ctx, dir, s.Of.at, s.Of.entry.String())\n", "	return l.removeEntry(ctx, dir, s.Of.at, s.Of.entry.String(), nil)\n"}}},

	{name: "a watch of directories ends when it is judged", breaks: falseLoss, limit: 150_000, config: "plain-half-prompt", edits: []edit{judgedLate("../watch")}},

	{name: "no heartbeat after the rename", breaks: lateHold, config: "bare-lease|bare-xs", edits: []edit{{"attempt.go",
		"	if err := c.refresh(ctx); err != nil {\n		return nil, err\n	}\n	a.disclaim()", "	a.disclaim()"}}},

	{name: "a heartbeat after the lease is good enough to begin with", breaks: lateHold, config: "tree-lease|plain-lease", edits: []edit{{"claim.go",
		"	if c.late() {\n		return dirs.ErrAbsent\n	}\n", ""}}},

	{name: "list before the own entry is made", breaks: twoHolders, config: "tree-xs", edits: []edit{
		{"dirstyle.go", "	if a.phase == idle {\n		if err := a.holdBack(ctx)", "	early, _ := a.dir.List(ctx, a.lock.lock())\n	if a.phase == idle {\n		if err := a.holdBack(ctx)"},
		{"dirstyle.go", "	names, err := a.lock.namesIn(ctx, a.dir, a.lock.lock(), \"list the lock directory\")\n	if err != nil {\n		return nil, err\n	}\n	var before",
			"	names, err := append(early, a.mine.entry.String()), error(nil)\n	var before"}}},

	{name: "share though the own entry is missing", breaks: deadHold, limit: 600_000, config: "bare-wrong-waiting", edits: []edit{
		{"dirstyle.go", "	if !there || a.mine.late() {", "	if a.mine.late() {"},
		{"dirstyle.go", "	if !beats && !a.lock.Tokens {", "	if false {"}}},

	{name: "share by a heartbeat of an earlier try", breaks: earlyHold, config: "bare-lease-waiting", edits: []edit{{"dirstyle.go",
		"	if !beats && !a.lock.Tokens {", "	if false {"}}},

	{name: "no look at the own entry after the token", breaks: lateHold, config: "tree-lease", edits: []edit{{"tokens.go",
		"; err == nil {\n		err = h.claim.refresh(ctx)\n	}", "; err == nil {\n		err = nil\n	}"}}},

	{name: "an unclear gate is ours", breaks: takesEmpty, config: "ftp-lost-script", edits: []edit{{"plain.go",
		"		return a.look(ctx, true)", "		a.owned = true\n		return nil"}}},

	{name: "after an unclear gate a lock that exists is ours", breaks: takesEmpty, config: "ftp-lost-script", edits: []edit{{"plain.go",
		"		return a.look(ctx, true)",
		"		if err := a.dir.Mkdir(ctx, a.lock.lock()); err == nil || dirs.Refused(err) {\n			a.owned = true\n			return nil\n		}\n		return a.look(ctx, true)"}}},

	{name: "remove the lock again after an unclear answer", breaks: takesEmpty, config: "ftp-lost-script", edits: []edit{{"hold.go",
		"	case !dirs.Refused(err) && !dirs.Unclear(err):\n		return h.lock.fail(\"remove the lock directory\", err)\n	}\n	h.stage", "	case !dirs.Refused(err):\n		return h.lock.fail(\"remove the lock directory\", err)\n	}\n	h.stage"}}},

	{name: "an unclear commit has failed", breaks: litter, limit: 150_000, config: "ftp-lost-break|ftp-lost-withdraw", edits: []edit{{"plain.go",
		"	case dirs.Refused(err), dirs.Unclear(err):\n		a.phase = unsure\n", "	case dirs.Unclear(err):\n		a.mine, a.phase = nil, idle\n		return nil, backend.ErrAgain\n	case dirs.Refused(err):\n		a.phase = unsure\n"}}},

	{name: "keep the lock when the entry is nowhere", breaks: takesEmpty, limit: 150_000, config: "ftp-lost-broken", edits: []edit{{"plain.go",
		"errors.Is(err, dirs.ErrAbsent) {\n		a.disclaim()\n	}\n	if err != nil {\n		return nil, err\n", "err != nil {\n		return nil, err\n"}}},

	{name: "remove the lock though the entry may have been removed by others", breaks: takesEmpty, limit: 150_000, config: "ftp-lost-break", edits: []edit{{"hold.go",
		"		h.stage = checking // perhaps", "		h.stage = emptied // perhaps"}}},

	{name: "remove the lock though the entry was removed by others", breaks: takesEmpty, config: "plain-wrong-.*", edits: []edit{{"hold.go",
		"	case errors.Is(err, dirs.ErrAbsent):\n		h.lose()\n		return h.lock.lost(\"remove our entry\")\n", "	case errors.Is(err, dirs.ErrAbsent):\n		h.stage = emptied\n"}}},

	{name: "an id of directories used again", breaks: robs, limit: 150_000, config: "plain-lease|tree-lease", edits: []edit{{"claim.go",
		"	r, parts, err := backend.Signed(a.lock.Address, a.lock.Env,",
		"	if a.request.Owner.ID == \"\" {\n		a.request.Owner.ID = a.lock.NewID()\n	}\n	env := a.lock.Env\n	env.NewID = func() string { return a.request.Owner.ID }\n	r, parts, err := backend.Signed(a.lock.Address, env,"}}},

	{name: "a heartbeat by a fixed name", breaks: robs, limit: 150_000, config: "plain-half-prompt", edits: []edit{{"claim.go",
		"	name := labels.BeatName(c.next, c.parts)\n", "	name := labels.BeatName(0, c.parts)\n"}}},

	{name: "a heartbeat does not mind that its entry of directories is gone", breaks: silentLoss, limit: 150_000, config: "plain-lease|plain-operator", edits: []edit{{"claim.go",
		"	if err := c.lock.mustBeThere(ctx, c.dir, c.path(), \"look for our entry\"); err != nil {\n		return err\n", "	if err := c.lock.mustBeThere(ctx, c.dir, c.path(), \"look for our entry\"); err != nil {\n		return nil\n"}}},

	{name: "tending to directories does not wait", breaks: robs, config: "tree-tend|plain-tend", edits: []edit{{"tend.go",
		"	case overIn(s) > 0, h.lock.Style == PlainStyle && s.Verdict != owner.Dead && s.Record != nil:\n		return true, nil\n", "	case overIn(s) < 0 && s.Verdict == owner.Dead:\n		return true, nil\n"}}},

	{name: "who waits gives no sign of life", breaks: robs, config: "tree-tend-long", edits: []edit{{"wait.go",
		"a.mine.shown + a.lock.waiterBeats", "a.mine.Confirmed + a.lock.waiterBeats"}}},

	{name: "commit a reservation that may be gone", breaks: stuck, config: "plain-operator-waiter|plain-wrong-sweep", edits: []edit{{"plain.go",
		"	if a.phase != fresh || a.mine.Overdue() {", "	if asNew && a.phase != fresh {"}}},

	{name: "commit in one step a reservation that may be gone", breaks: stuck, limit: 200_000, config: "unmarked-operator-waiting", edits: []edit{{"plain.go",
		"	if a.phase != fresh || a.mine.Overdue() {", "	if !asNew && (a.phase != fresh || a.mine.Overdue()) {"}}},

	{name: "settle while withdrawing", breaks: stuck, config: "ftp-lost-one", edits: []edit{{"attempt.go",
		"	if a.phase == leaving {\n		if err", "	if a.phase == leaving {\n		a.phase = unsure\n	}\n	if a.mine == nil {\n		if err"}}},

	{name: "empty locks are in the way of their owners", breaks: stuck, config: "ftp-refuse-lost-script", edits: []edit{{"plain.go",
		"	case a.gate == renaming:\n		return a.removeLock(ctx)\n", "	case a.gate == renaming:\n		return nil\n"}}},

	{name: "what its owner empties cannot be removed", breaks: fails, config: "plain-wrong", edits: []edit{{"remove.go",
		"i == maxRemovals || backend.CodeOf(why) != protocol.Permission {", "i >= 0 {"}}},

	{name: "empty reservations stay", breaks: litter, config: "tree-crash.*", edits: []edit{{"tend.go",
		"		return false, h.tendEmpty(ctx, t) // or", "		return false, nil // or"}}},

	{name: "break without a pin", breaks: takesEmpty, limit: 200_000, config: "disk-crashes", edits: []edit{{"plain.go",
		"	pin, err := a.lock.pin(ctx, a.dir, s.Of.at)\n	if err != nil {\n		return err\n	}\n	if err =", "	pin, err := io.Closer(nil), error(nil)\n	if err ="},
		{"plain.go", "	\"errors\"\n", "	\"errors\"\n	\"io\"\n"}}},

	{name: "break with a pin that is closed too early", breaks: takesEmpty, limit: 200_000, config: "disk-crashes", edits: []edit{{"plain.go",
		"		a.own(pin)\n", "		dirs.Unpin(pin)\n		a.own(nil)\n"}}},

	{name: "a break by hand without a pin", breaks: takesEmpty, limit: 300_000, config: "disk-crash-operator", edits: []edit{{"break.go",
		"		defer dirs.Unpin(pin)\n", "		dirs.Unpin(pin)\n"}}},

	{name: "a reservation that is marked but not pinned", breaks: takesEmpty, config: "disk-xx", edits: []edit{{"reserve.go",
		"		c.pin, _ = a.disk.Stake(ctx, c.home) //", "		c.pin, _ = a.disk.Stake(ctx, c.home)\n		c.unpin() //"}}},

	{name: "the pin ends before the lock is removed", breaks: takesEmpty, config: "disk-xx", edits: []edit{{"hold.go",
		"	if err := h.removeEntry(ctx); err != nil {\n		return err\n	}\n", "	if err := h.removeEntry(ctx); err != nil {\n		return err\n	}\n	h.claim.unpin()\n"}}},

	{name: "the one step replaces what is there", breaks: takesEmpty, config: "disk-script", edits: []edit{{"plain.go",
		"		return a.disk.RenameNew(ctx, a.mine.home, a.lock.lock())\n", "		return a.dir.Rename(ctx, a.mine.home, a.lock.lock())\n"}}},

	{name: "no gate where there is no one step", breaks: takesEmpty, config: "two-steps-script", edits: []edit{{"plain.go",
		"		a.gate = twoSteps\n		return nil, backend.ErrAgain\n", "		err = a.dir.Rename(ctx, a.mine.home, a.lock.lock())\n		if err == nil {\n			return a.enter(ctx)\n		}\n		return nil, a.taken(ctx, err)\n"}}},

	{name: "break an empty lock", breaks: takesEmpty, config: "plain-script", edits: []edit{{"plain.go",
		"	case len(entries) == 0:\n		return a.heldByNobody(names, doubt)\n", "	case len(entries) == 0:\n		_ = a.dir.Rmdir(ctx, a.lock.lock())\n		return backend.ErrAgain\n"}}},
}
