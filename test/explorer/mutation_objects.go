//go:build unix

package main

// objectMutations are wrong ways to lock with objects. Their files are in package objects.
//
// Two questions find out what a refused creation means: the one of the refused process, and the
// next listing (othersAlways). Either is enough, so the mutations that do not ask leave out both.
// In s3-lost-alone the listing alone does not matter.
var objectMutations = []mutation{
	{name: "a listing that lacks the holder's reservation proves that it is gone", breaks: twoHolders, config: "s3-torn", edits: []edit{change("attempt.take", "listing-is-no-proof", "if t > 0 && len(v.queue) > 1 {$body}")}},

	{name: "a library repeats requests, and a refusal means that another was first", breaks: stuck, config: "s3-lost-alone", edits: []edit{
		change("attempt.create", "create", "create := func() error { return a.lock.Store.Create(ctx, generationKey(n), []byte(a.Mine.ticket.String())) }\n		err := create()\n		if unclear(err) {\n			err = create()\n		}\n		if errors.Is(err, ErrExists) {\n			return nil, backend.ErrAgain\n		}"),
		othersAlways}},

	{name: "a refusal means that another was first", breaks: stuck, config: "s3-lost-alone", edits: []edit{
		change("attempt.create", "refused", "case errors.Is(err, ErrExists):\n			return nil, backend.ErrAgain\n		$old"),
		othersAlways}},

	{name: "no answer to a creation means that another was first", breaks: stuck, config: "s3-lost-alone", edits: []edit{
		change("attempt.create", "no-answer", "$old\n		if unclear(err) {\n			return nil, backend.ErrAgain\n		}"),
		othersAlways}},

	{name: "the newest generation is always another's", breaks: stuck, config: "s3-lost", edits: []edit{othersAlways}},

	{name: "the same name after a reservation that had no answer", breaks: idAgain, config: "s3-lost", edits: []edit{change("attempt.reserve", "spoiled", "if unclear(err) {\n		return a.lock.fail(\"make a reservation\", a.lock.Store.Put(ctx, t.reservation(), []byte(text)))\n	}\n	$old")}},

	{name: "a removal whose condition the store ignores", breaks: robs, config: "s3-lease-rounds", edits: []edit{change("attempt.pass", "remove", "if now, err := a.lock.list(ctx); err == nil {\n		if newer, err := a.lock.target(ctx, now.numbers.Newest()); err == nil {\n			target = newer\n		}\n	}\n	$old")}},

	{name: "a break removes what is not named", breaks: robs, config: "s3-operator", edits: []edit{change("Lock.Strike", "named", "v, _ := l.list(ctx); ok := len(v.queue) > 0; if !ok { return backend.ErrGone }; t := v.queue[0].ticket")}},

	{name: "a heartbeat writes the reservation, too", breaks: undone, config: "s3-operator", edits: []edit{change("claim.refresh", "put", "_ = c.lock.Store.Put(ctx, c.ticket.reservation(), []byte(c.Record))\n		$old")}},

	{name: "a heartbeat does not look for the reservation", breaks: undone, config: "s3-operator", edits: []edit{change("hold.held", "reservation", "var err error")}},

	{name: "a heartbeat does not look for the next generation", breaks: silentLoss, config: "s3-operator-copied", edits: []edit{change("hold.held", "next", "err = ErrAbsent")}},

	{name: "a heartbeat does not look for its own generation", breaks: silentLoss, config: "s3-operator-old", edits: []edit{change("hold.held", "own", "err = nil")}},

	{name: "a heartbeat does not mind whose its own generation is", breaks: silentLoss, config: "s3-operator-late", edits: []edit{change("hold.named", "whose", "if err == nil && len(content) == 0 {$body}")}},

	{name: "the newest of the old generations are removed first", breaks: silentLoss, config: "s3-operator-order", edits: []edit{
		elsewhere("../../tokens", "Numbers.RemoveOld", "order", "for _, old := range slices.Backward(n) {\n		if old+kept >= newest {\n			continue\n		}\n		if remove(old) != nil {\n			return // so that none is there without all that are newer\n		}\n	}"),
		elsewhere("../../tokens", "import", "Numbers.RemoveOld", `"slices"`)}},

	{name: "one that may not be removed does not stop the removal of old generations", breaks: silentLoss, config: "s3-operator-order", edits: []edit{elsewhere("../../tokens", "Numbers.RemoveOld", "stop", "continue")}},

	{name: "a release does not look", breaks: undone, config: "s3-operator", edits: []edit{change("hold.Release", "look", "if h.Number == 0 {$body}")}},

	{name: "a heartbeat after a lease of silence is good", breaks: falseLoss, limit: 150_000, config: "s3-half-long", edits: []edit{refreshedLate}},

	{name: "the hold begins without a heartbeat", breaks: twoHolders, limit: 400_000, config: "s3-gap", edits: []edit{change("attempt.confirm", "beat", "if a.Mine.Confirmed < 0 {$body}")}},

	{name: "the hold begins however late it is", breaks: lateHold, config: "s3-lease-prompt", edits: []edit{change("attempt.confirm", "late", "late := false")}},

	{name: "no listing after winning", breaks: tokenFell, limit: 150_000, config: "s3-pages-collect", edits: []edit{change("attempt.confirm", "newest", "case n == 0:\n		$body")}},

	{name: "the own reservation need not be listed", breaks: deadHold, config: "s3-operator-waiter", edits: []edit{change("attempt.look", "listed", "")}},

	{name: "no answer about the holder's reservation means that it is gone", breaks: twoHolders, config: "s3-lost", edits: []edit{change("attempt.pass", "absent", "case err != nil:\n		return nil")}},

	{name: "who has sent no heartbeat is dead", breaks: twoHolders, config: "s3-torn", edits: []edit{change("Lock.see", "no-beat", "_ = made")}},

	{name: "heartbeats are not watched", breaks: robs, config: "s3-half-long", edits: []edit{change("sign", "sign", "return \"alive\"")}},

	{name: "all heartbeats have the same content", breaks: robs, config: "s3-still-half", edits: []edit{change("claim.refresh", "put", "if err := c.lock.Store.Put(ctx, c.ticket.beat(), []byte(strconv.FormatUint(0, 10)+\" \"+c.ticket.id+\"\\n\")); err != nil {$body}")}},

	{name: "a waiter for objects removes one before it that lives", breaks: robs, config: "s3-xxx", edits: []edit{change("attempt.nearest", "lives", "case s.Due > watch.Never-1:\n			$body")}},

	{name: "an attempt that is given up keeps its reservation", breaks: stuck, config: "s3-strict-lease", edits: []edit{
		elsewhere("..", "race", "withdraw", "a.Mine = *new(C)\n		err = backend.Again(err)"),
		change("attempt.Take", "withdraw", "a.Mine = nil")}},

	{name: "keep no old generations of objects", breaks: tokenFell, limit: 150_000, config: "s3-torn", edits: []edit{keptNone}},

	{name: "the newest generation is removed", breaks: newestGone, config: "s3-xx", edits: []edit{removedNewest}},

	{name: "removing the lock removes its newest generation", breaks: newestGone, config: "s3-remove", edits: []edit{change("Lock.Remove", "older", "if n <= h.Number {$body}")}},

	{name: "tending objects does not wait", breaks: robs, config: "s3-tend", edits: []edit{change("hold.tend", "lives", "case s.Due > 1<<62:\n		$body")}},

	{name: "tending leaves heartbeats of nobody", breaks: litter, config: "s3-lost-beat", edits: []edit{change("hold.Tend", "nobody", "if _, there := v.find(t); !ok && !there {$body}")}},

	{name: "what was just listed and is not there is gone", breaks: twoHolders, config: "s3-forgets-xx", edits: []edit{change("attempt.pass", "just-listed", "case absent(err) && listed && v.numbers.Newest() == 0: // mostly it was released meanwhile; the next listing tells\n		$body")}},

	{name: "anybody's 404 about a holder's reservation is believed", breaks: twoHolders, config: "s3-foreign-torn", edits: []edit{change("Lock.see", "unseen", "if unseen(err) {\n		err = ErrAbsent\n	}\n	$old")}},

	{name: "the 404 of a look is believed", breaks: falseLoss, config: "s3-foreign-beat", edits: []edit{change("Lock.sure", "ask", "err = ErrAbsent")}},

	{name: "anybody's 404 to a removal is its success", breaks: stuck, config: "s3-foreign-strict", edits: []edit{change("hold.Release", "delete", "if err := l.Store.Delete(ctx, h.Mine.ticket.reservation()); err != nil && !unseen(err) {$body}")}},

	{name: "there is no next generation, whoever says so", breaks: silentLoss, config: "s3-foreign-copied", edits: []edit{change("hold.held", "no-next", "case unseen(err):\n			$body")}},

	{name: "tending leaves reservations of the dead", breaks: litter, config: "s3-one-host", edits: []edit{change("hold.tend", "remove", "return nil")}},
}

// othersAlways takes an own generation in a listing for another's.
var othersAlways = change("attempt.take", "own", "")
