package main

// linkMutations are wrong ways to lock with a file. Their files are in package link.
var linkMutations = []mutation{
	{name: "the answer to a link is the truth", breaks: stuck, config: "link-lost|link-late", edits: []edit{
		{"claim.go", "	cause := c.fs.Link(c.name, name)\n",
			"	cause := c.fs.Link(c.name, name)\n	if cause == nil || !definite(cause) {\n		return cause == nil, nil\n	}\n"},
		{"wait.go", "		if c != nil && s.Of.content.Holds(c.record.ID) {\n", "		if c != nil && c.stat.Ino == 0 {\n"}}},

	{name: "any file is ours", breaks: twoHolders, config: "link-xx", edits: []edit{
		{"claim.go", "	case there.Same(c.stat):\n		return c.proven(name)\n", "	case there.Same(there):\n		return true, nil\n"},
		{"hold.go", "	if err == nil && !there.Same(h.claim.stat) {\n		err = errAbsent\n	}\n	return err\n}\n\n// open gets", "	_ = there\n	return err\n}\n\n// open gets"},
		{"hold.go", "	if !st.Same(h.claim.stat) || !parse(text).Holds(h.ID()) {\n", "	if _ = text; h.file != nil {\n		return nil\n	}\n	if st.Kind != \"\" {\n"}}},

	{name: "an unclear link is not looked at later", breaks: stuck, config: "link-lost|link-late", edits: []edit{{"wait.go",
		"	for _, c := range append(slices.Clone(a.prior), a.mine) {", "	for _, c := range slices.Clone(a.prior[:0]) {"}}},

	{name: "a late link is not undone", breaks: stuck, limit: 250_000, config: "link-late-withdraw", edits: []edit{{"attempt.go",
		"	if len(a.prior) == 0 {\n", "	if len(a.prior) >= 0 {\n"}}},

	{name: "no turns", breaks: hitsNext, config: "link-dead", edits: []edit{{"queue.go",
		"	n, rival, err := q.join()\n", "	n, rival, err := 1, (*observation)(nil), error(nil)\n"}}},

	{name: "a turn is had though the one before lives", breaks: robs, config: "link-dead", edits: []edit{{"queue.go",
		"		case s.Due > 0:\n", "		case s.Due < 0:\n"}}},

	{name: "no second look", breaks: hitsNext, config: "link-dead", edits: []edit{{"queue.go",
		"	s, err := q.others.see(q.lock.Name)\n", "	s, err := q.dead, error(nil)\n"}}},

	{name: "any lock is the dead one's", breaks: robs, config: "link-age-operator", edits: []edit{{"queue.go",
		"	case s.Of.id() != q.dead.Of.id():\n", "	case s.Of.id() == \"\":\n"}}},

	{name: "clean the queue before the removal", breaks: hitsNext, config: "link-dead|link-dead-crash", edits: []edit{{"queue.go",
		"	over, err := q.removeLock()\n", "	for i := 1; i <= n; i++ {\n		_ = q.fs.Unlink(q.entry(i))\n	}\n	over, err := q.removeLock()\n"}}},

	{name: "leave the queue before the removal", breaks: hitsNext, limit: 150_000, config: "link-dead", edits: []edit{{"queue.go",
		"	over, err := q.removeLock()\n", "	q.removeEntry(n)\n	over, err := q.removeLock()\n"}}},

	{name: "one id for all tries", breaks: idAgain, config: "link-dead", edits: []edit{
		{"attempt.go", "	c, err := a.lock.newClaim(a.fs, a.request.Owner)\n", "	if a.request.Owner.ID == \"\" {\n		a.request.Owner.ID = a.lock.NewID()\n	}\n	c, err := a.lock.newClaim(a.fs, a.request.Owner)\n"},
		{"claim.go", "	r, text, err := backend.Signed(l.Address, l.Env,", "	env := l.Env\n	if id := r.ID; id != \"\" {\n		env.NewID = func() string { return id }\n	}\n	r, text, err := backend.Signed(l.Address, env,"}}},

	{name: "release without a look", breaks: hitsNext, config: "link-age-operator|link-lost-beat|link-age-holder", edits: []edit{{"hold.go",
		"	err := h.verify()\n	if err == nil {\n		err = h.fs.Unlink", "	err := error(nil)\n	if err == nil {\n		err = h.fs.Unlink"}}},

	{name: "remove entries of the queue while the lock is there", breaks: robs, config: "link-dead-turn.*", edits: []edit{{"leftovers.go",
		"	case s.Of.id() == dead, s.Of.unreadable:\n		return nil\n", "	case s.Of.id() == \"\":\n		return nil\n"}}},

	{name: "remove leftovers of whoever is there", breaks: robs, config: "link-xx|link-dead", edits: []edit{{"leftovers.go",
		"	if s.Verdict != owner.Dead && now.Sub", "	if s.Verdict == owner.Dead && now.Sub"}}},

	{name: "a heartbeat by name", breaks: silentLoss, config: "link-age-reuse-holder|link-age-holder", edits: []edit{
		{"hold.go", "	if err := h.open(); err != nil {\n		return err\n	}\n", "	if f, err := h.fs.Open(h.lock.Name); err != nil {\n		return err\n	} else {\n		h.file = f\n	}\n"},
		{"hold.go", "	if err == nil && !there.Same(h.claim.stat) {\n		err = errAbsent\n	}\n	return err\n}\n\n// open gets", "	_ = there\n	return err\n}\n\n// open gets"}}},

	{name: "a heartbeat does not look at the names", breaks: silentLoss, config: "link-age-local-holder", edits: []edit{
		{"hold.go", "	there, err := h.fs.Stat(h.lock.Name)\n	if err == nil && !there.Same(h.claim.stat) {\n		err = errAbsent\n	}\n	return err\n", "	return nil\n"},
		{"hold.go", "	case st.Links == 0:\n", "	case st.Kind != \"\":\n"}}},

	{name: "the number of a file is enough", breaks: robs, config: "link-age-reuse-holder", edits: []edit{{"hold.go",
		"	if !st.Same(h.claim.stat) || !parse(text).Holds(h.ID()) {\n", "	if _ = text; !st.Same(h.claim.stat) {\n"}}},

	{name: "a heartbeat does not mind that the lock is gone", breaks: silentLoss, config: "link-age-holder|link-age-operator", edits: []edit{{"hold.go",
		"		h.gone = true\n		h.fs.Close()\n		return h.lock.lost(op)\n", "		return nil\n"}}},

	{name: "the claim keeps its name", breaks: litter, config: "link-dup", edits: []edit{{"hold.go",
		"	err := h.claim.remove()\n	h.claimGone = err == nil\n	return err\n", "	return nil\n"}}},

	{name: "a claim that waited keeps its name", breaks: stuck, limit: 250_000, config: "link-late-again", edits: []edit{{"attempt.go",
		"	if err := a.mine.remove(); err != nil {\n		return err\n	}\n	if a.mine.linked", "	if a.mine.linked"}}},

	{name: "a turn that comes late is not undone", breaks: stuck, config: "link-dead-late.*", edits: []edit{{"queue.go",
		"		q.left = append(q.left, q.own(n))\n", ""}}},

	{name: "a turn that comes late is a lie", breaks: fails, limit: 150_000, config: "link-dead-dup", edits: []edit{{"queue.go",
		"		case s.Of.content.Holds(q.claim.record.ID) && s.Of.stat.Same(q.claim.stat):\n			return n, nil, nil // the server made it ours late\n", ""}}},

	{name: "a sign of life does not restart the watch of a file", breaks: robs, config: "link-age-beat|link-age-old", edits: []edit{
		{"watcher.go", "seen.ID, seen.Sign = f.id(), f.sign()", "seen.ID, seen.Sign = f.id(), f.id()"},
		{"queue.go", "	case s.Of.sign() != q.dead.Of.sign() && !q.force:\n", "	case s.Of.id() == \"\":\n"}}},

	{name: "a watch of a file begins when it is judged", breaks: robs, config: "link-age-beat", edits: []edit{
		judgedLate("../watch"),
		{"queue.go", "	case s.Of.sign() != q.dead.Of.sign() && !q.force:\n", "	case s.Of.id() == \"\":\n"}}},

	{name: "strict breaks by age", breaks: hitsNext, config: "link-beat", edits: []edit{{"../watch/watch.go",
		"	if w.request.Strict {\n		lease = 0\n	}\n", ""}}},
}
