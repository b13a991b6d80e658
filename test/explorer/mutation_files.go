//go:build unix

package main

// linkMutations are wrong ways to lock with a file. Their files are in package link.
var linkMutations = []mutation{
	{name: "the answer to a link is the truth", breaks: stuck, config: "link-lost|link-late", edits: []edit{
		change("claim.linkTo", "look", "if cause == nil || !definite(cause) {\n		return cause == nil, nil\n	}\n	$old"),
		change("attempt.ours", "holds", "if c != nil && c.stat.Ino == 0 {$body}")}},

	{name: "any file is ours", breaks: twoHolders, config: "link-xx", edits: []edit{
		change("claim.linkTo", "same", "case there.Same(there):\n		return true, nil"),
		change("hold.refresh", "same", "_ = there"),
		change("hold.verify", "same", "if _ = text; h.file != nil {\n		return nil\n	}\n	if st.Kind != \"\" {\n		return errAbsent\n	}")}},

	{name: "an unclear link is not looked at later", breaks: stuck, config: "link-lost|link-late", edits: []edit{change("attempt.ours", "prior", "for _, c := range slices.Clone(a.prior[:0]) {$body}")}},

	{name: "a late link is not undone", breaks: stuck, limit: 250_000, config: "link-late-withdraw", edits: []edit{change("attempt.withdrawLock", "late-link", "if len(a.prior) >= 0 {$body}")}},

	{name: "no turns", breaks: hitsNext, config: "link-dead", edits: []edit{change("breakQueue.run", "turn", "n, rival, err := 1, (*observation)(nil), error(nil)")}},

	{name: "a turn is had though the one before lives", breaks: robs, config: "link-dead", edits: []edit{change("breakQueue.join", "lives", "case s.Due < 0:\n			$body")}},

	{name: "no second look", breaks: hitsNext, config: "link-dead", edits: []edit{change("breakQueue.removeLock", "look", "s, err := q.dead, error(nil)")}},

	{name: "any lock is the dead one's", breaks: robs, config: "link-age-operator", edits: []edit{change("breakQueue.removeLock", "same-id", "case s.Of.id() == \"\":\n		$body")}},

	{name: "clean the queue before the removal", breaks: hitsNext, config: "link-dead|link-dead-crash", edits: []edit{change("breakQueue.run", "lock-first", "for i := 1; i <= n; i++ {\n		_ = q.fs.Unlink(q.entry(i))\n	}\n	$old")}},

	{name: "leave the queue before the removal", breaks: hitsNext, limit: 150_000, config: "link-dead", edits: []edit{change("breakQueue.run", "lock-first", "q.removeEntry(n)\n	$old")}},

	{name: "one id for all tries", breaks: idAgain, config: "link-dead", edits: []edit{
		change("attempt.prepare", "new-claim", "if a.request.Owner.ID == \"\" {\n		a.request.Owner.ID = a.lock.NewID()\n	}\n	$old"),
		change("Lock.newClaim", "id", "env := l.Env\n	if id := r.ID; id != \"\" {\n		env.NewID = func() string { return id }\n	}\n	r, text, err := backend.Signed(l.Address, env, r, lockfile.Format)")}},

	{name: "release without a look", breaks: hitsNext, config: "link-age-operator|link-lost-beat|link-age-holder", edits: []edit{change("hold.remove", "verify", "err := error(nil)")}},

	{name: "remove entries of the queue while the lock is there", breaks: robs, config: "link-dead-turn.*", edits: []edit{change("watcher.tendEntry", "dead", "case s.Of.id() == \"\":\n		$body")}},

	{name: "remove leftovers of whoever is there", breaks: robs, config: "link-xx|link-dead", edits: []edit{change("watcher.tendFile", "old", "if s.Verdict == owner.Dead && now.Sub(s.Of.stat.Modified) <= max(owner.LeftOver(w.lease(s.Of.content)), oldest) {$body}")}},

	{name: "a heartbeat by name", breaks: silentLoss, config: "link-age-reuse-holder|link-age-holder", edits: []edit{
		change("hold.refresh", "open", "if f, err := h.fs.Open(h.lock.Name); err != nil {\n		return err\n	} else {\n		h.file = f\n	}"),
		change("hold.refresh", "same", "_ = there")}},

	{name: "a heartbeat does not look at the names", breaks: silentLoss, config: "link-age-local-holder", edits: []edit{
		change("hold.refresh", "names", "return nil\n	$old"),
		change("hold.touch", "links", "case st.Kind != \"\":\n		$body")}},

	{name: "the number of a file is enough", breaks: robs, config: "link-age-reuse-holder", edits: []edit{change("hold.verify", "same", "if _ = text; !st.Same(h.claim.stat) {$body}")}},

	{name: "a heartbeat does not mind that the lock is gone", breaks: silentLoss, config: "link-age-holder|link-age-operator", edits: []edit{change("hold.explain", "gone", "return nil\n		$old")}},

	{name: "the claim keeps its name", breaks: litter, config: "link-dup", edits: []edit{change("hold.removeClaim", "unlink", "return nil\n	$old")}},

	{name: "a claim that waited keeps its name", breaks: stuck, limit: 250_000, config: "link-late-again", edits: []edit{change("attempt.withdrawClaim", "unlink", "")}},

	{name: "a turn that comes late is not undone", breaks: stuck, config: "link-dead-late.*", edits: []edit{change("breakQueue.join", "late", "")}},

	{name: "a turn that comes late is a lie", breaks: fails, limit: 150_000, config: "link-dead-dup", edits: []edit{change("breakQueue.join", "own", "")}},

	{name: "a sign of life does not restart the watch of a file", breaks: robs, config: "link-age-beat|link-age-old", edits: []edit{
		change("watcher.seen", "sign", "seen.ID, seen.Sign = f.id(), f.id()"),
		change("breakQueue.removeLock", "same-sign", "case s.Of.id() == \"\":\n		$body")}},

	{name: "a watch of a file begins when it is judged", breaks: robs, config: "link-age-beat", edits: append(judgedLate("../watch"),
		change("breakQueue.removeLock", "same-sign", "case s.Of.id() == \"\":\n		$body"))},

	{name: "strict breaks by age", breaks: hitsNext, config: "link-beat", edits: []edit{elsewhere("../watch", "Watcher.Rule", "strict", "")}},
}
