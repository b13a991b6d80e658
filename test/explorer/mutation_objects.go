package main

// objectMutations are wrong ways to lock with objects. Their files are in package objects.
//
// Two questions find out what a refused creation means: the one of the refused process, and the
// next listing (othersAlways). Either is enough, so the mutations that do not ask leave out both.
// In s3-lost-alone the listing alone does not matter.
var objectMutations = []mutation{
	{name: "a listing that lacks the holder's reservation proves that it is gone", breaks: twoHolders, config: "s3-torn", edits: []edit{{"attempt.go",
		"	if t > 0 { // a listing", "	if t > 0 && len(v.queue) > 1 { // a listing"}}},

	{name: "a library repeats requests, and a refusal means that another was first", breaks: stuck, config: "s3-lost-alone", edits: []edit{
		{"attempt.go", "		err := a.lock.Store.Create(ctx, generationKey(n), []byte(a.Mine.ticket.String()))\n",
			"		create := func() error { return a.lock.Store.Create(ctx, generationKey(n), []byte(a.Mine.ticket.String())) }\n		err := create()\n		if unclear(err) {\n			err = create()\n		}\n		if errors.Is(err, ErrExists) {\n			return nil, backend.ErrAgain\n		}\n"},
		othersAlways}},

	{name: "a refusal means that another was first", breaks: stuck, config: "s3-lost-alone", edits: []edit{
		{"attempt.go", "		case err == nil:\n			return a.confirm(ctx, n)\n",
			"		case err == nil:\n			return a.confirm(ctx, n)\n		case errors.Is(err, ErrExists):\n			return nil, backend.ErrAgain\n"},
		othersAlways}},

	{name: "no answer to a creation means that another was first", breaks: stuck, config: "s3-lost-alone", edits: []edit{
		{"attempt.go", "		last = err\n", "		if last = err; unclear(err) {\n			return nil, backend.ErrAgain\n		}\n"},
		othersAlways}},

	{name: "the newest generation is always another's", breaks: stuck, config: "s3-lost", edits: []edit{othersAlways}},

	{name: "the same name after a reservation that had no answer", breaks: idAgain, config: "s3-lost", edits: []edit{{"claim.go",
		"	a.Mine.Spoiled = true //", "	if unclear(err) {\n		return a.lock.fail(\"make a reservation\", a.lock.Store.Put(ctx, t.reservation(), []byte(text)))\n	}\n	a.Mine.Spoiled = true //"}}},

	{name: "a removal whose condition the store ignores", breaks: robs, config: "s3-lease-rounds", edits: []edit{{"attempt.go",
		"	if err := a.lock.remove(ctx, target); err != nil {\n",
		"	if now, err := a.lock.list(ctx); err == nil {\n		if newer, err := a.lock.target(ctx, now.numbers.Newest()); err == nil {\n			target = newer\n		}\n	}\n	if err := a.lock.remove(ctx, target); err != nil {\n"}}},

	{name: "a break removes what is not named", breaks: robs, config: "s3-operator", edits: []edit{{"inspect.go",
		"		if p.ticket.id == id {\n", "		if p.ticket.id != \"\" {\n"}}},

	{name: "a heartbeat writes the reservation, too", breaks: undone, config: "s3-operator", edits: []edit{{"claim.go",
		"		c.beats++\n", "		c.beats++\n		_ = c.lock.Store.Put(ctx, c.ticket.reservation(), []byte(c.Record))\n"}}},

	{name: "a heartbeat does not look for the reservation", breaks: undone, config: "s3-operator", edits: []edit{{"hold.go",
		"	_, err := l.sure(ctx, h.Mine.ticket.reservation())\n", "	var err error\n"}}},

	{name: "a heartbeat does not look for the next generation", breaks: silentLoss, config: "s3-operator-copied", edits: []edit{{"hold.go",
		"		_, _, err = l.Store.Get(ctx, generationKey(h.Number+1)) //", "		err = ErrAbsent //"}}},

	{name: "a heartbeat does not look for its own generation", breaks: silentLoss, config: "s3-operator-old", edits: []edit{{"hold.go",
		"			err = h.named(ctx)\n", "			err = nil\n"}}},

	{name: "a heartbeat does not mind whose its own generation is", breaks: silentLoss, config: "s3-operator-late", edits: []edit{{"hold.go",
		"	if err == nil && string(content) != h.Mine.ticket.String() {\n", "	if err == nil && len(content) == 0 {\n"}}},

	{name: "the newest of the old generations are removed first", breaks: silentLoss, config: "s3-operator-order", edits: []edit{
		{"../../tokens/tokens.go", "	for i, old := range n {\n		if old+kept >= newest || i == most {\n			return\n",
			"	for _, old := range slices.Backward(n) {\n		if old+kept >= newest {\n			continue\n"},
		{"../../tokens/tokens.go", "package tokens\n", "package tokens\n\nimport \"slices\"\n"}}},

	{name: "one that may not be removed does not stop the removal of old generations", breaks: silentLoss, config: "s3-operator-order", edits: []edit{{"../../tokens/tokens.go",
		"			return // so that none is there without all that are newer\n", "			continue\n"}}},

	{name: "a release does not look", breaks: undone, config: "s3-operator", edits: []edit{{"hold.go",
		"	if !h.leaving {\n", "	if h.Number == 0 {\n"}}},

	{name: "a heartbeat after a lease of silence is good", breaks: falseLoss, limit: 150_000, config: "s3-half-long", edits: []edit{refreshedLate}},

	{name: "the hold begins without a heartbeat", breaks: twoHolders, limit: 400_000, config: "s3-gap", edits: []edit{{"attempt.go",
		"	if a.Mine.Confirmed < a.began { //", "	if a.Mine.Confirmed < 0 { //"}}},

	{name: "the hold begins however late it is", breaks: lateHold, config: "s3-lease-prompt", edits: []edit{{"attempt.go",
		"	late := a.Mine.Overdue()\n", "	late := false\n"}}},

	{name: "no listing after winning", breaks: tokenFell, limit: 150_000, config: "s3-pages-collect", edits: []edit{{"attempt.go",
		"	case v.numbers.Newest() != n:\n", "	case n == 0:\n"}}},

	{name: "the own reservation need not be listed", breaks: deadHold, config: "s3-operator-waiter", edits: []edit{{"attempt.go",
		"	if _, there := v.find(a.Mine.ticket); !there {\n		return v, cmp.Or(a.Mine.present(ctx), a.stale(\"our reservation\"))\n	}\n", ""}}},

	{name: "no answer about the holder's reservation means that it is gone", breaks: twoHolders, config: "s3-lost", edits: []edit{{"attempt.go",
		"	case absent(err):\n		return nil\n	case err != nil:\n		return a.lock.fail(\"look at the holder's reservation\", err)\n", "	case err != nil:\n		return nil\n"}}},

	{name: "who has sent no heartbeat is dead", breaks: twoHolders, config: "s3-torn", edits: []edit{{"watcher.go",
		"	if absent(err) {\n		beat, err = made, nil\n	}\n", "	_ = made\n"}}},

	{name: "heartbeats are not watched", breaks: robs, config: "s3-half-long", edits: []edit{{"watcher.go",
		"	return o.Key + \" \" + o.Tag + \" \" + o.Modified.UTC().Format(time.RFC3339Nano)\n", "	return \"alive\"\n"}}},

	{name: "all heartbeats have the same content", breaks: robs, config: "s3-still-half", edits: []edit{{"claim.go",
		"strconv.FormatUint(c.beats, 10)+", "strconv.FormatUint(0, 10)+"}}},

	{name: "a waiter for objects removes one before it that lives", breaks: robs, config: "s3-xxx", edits: []edit{{"queue.go",
		"		case s.Due > 0:\n			return s, len(line), nil\n", "		case s.Due > watch.Never-1:\n			return s, len(line), nil\n"}}},

	{name: "an attempt that is given up keeps its reservation", breaks: stuck, config: "s3-strict-lease", edits: []edit{{"../attempt.go",
		"		err = cmp.Or(a.Withdraw(ctx), backend.Again(err))\n", "		a.Mine = *new(C)\n		err = backend.Again(err)\n"},
		{"attempt.go", "		if left := a.Withdraw(ctx); left != nil {\n			return nil, left\n		}\n", "		a.Mine = nil\n"}}},

	{name: "keep no old generations of objects", breaks: tokenFell, limit: 150_000, config: "s3-torn", edits: []edit{keptNone}},

	{name: "the newest generation is removed", breaks: newestGone, config: "s3-xx", edits: []edit{removedNewest}},

	{name: "removing the lock removes its newest generation", breaks: newestGone, config: "s3-remove", edits: []edit{{"remove.go",
		"		if n < h.Number {\n", "		if n <= h.Number {\n"}}},

	{name: "tending objects does not wait", breaks: robs, config: "s3-tend", edits: []edit{{"tend.go",
		"	case s.Due > 0:\n", "	case s.Due > 1<<62:\n"}}},

	{name: "tending leaves heartbeats of nobody", breaks: litter, config: "s3-lost-beat", edits: []edit{{"tend.go",
		"		if _, there := v.find(t); ok && !there {\n", "		if _, there := v.find(t); !ok && !there {\n"}}},

	{name: "what was just listed and is not there is gone", breaks: twoHolders, config: "s3-forgets-xx", edits: []edit{{"attempt.go",
		"	case absent(err) && listed: //", "	case absent(err) && listed && v.numbers.Newest() == 0: //"}}},

	{name: "anybody's 404 about a holder's reservation is believed", breaks: twoHolders, config: "s3-foreign-torn", edits: []edit{{"watcher.go",
		"		made, err = l.sure(ctx, t.reservation())\n	}\n", "		made, err = l.sure(ctx, t.reservation())\n	}\n	if unseen(err) {\n		err = ErrAbsent\n	}\n"}}},

	{name: "the 404 of a look is believed", breaks: falseLoss, config: "s3-foreign-beat", edits: []edit{{"store.go",
		"		o, _, err = l.Store.Get(ctx, key)\n", "		err = ErrAbsent\n"}}},

	{name: "anybody's 404 to a removal is its success", breaks: stuck, config: "s3-foreign-strict", edits: []edit{{"hold.go",
		"	if err := l.Store.Delete(ctx, h.Mine.ticket.reservation()); err != nil {", "	if err := l.Store.Delete(ctx, h.Mine.ticket.reservation()); err != nil && !unseen(err) {"}}},

	{name: "there is no next generation, whoever says so", breaks: silentLoss, config: "s3-foreign-copied", edits: []edit{{"hold.go",
		"		case absent(err):\n			err = h.named(ctx)\n", "		case unseen(err):\n			err = h.named(ctx)\n"}}},

	{name: "tending leaves reservations of the dead", breaks: litter, config: "s3-one-host", edits: []edit{{"tend.go",
		"	return h.Mine.lock.remove(ctx, p.ticket)\n", "	return nil\n"}}},
}

// othersAlways takes an own generation in a listing for another's.
var othersAlways = edit{"attempt.go",
	"		if target == a.Mine.ticket {\n			return a.confirm(ctx, t)\n		}\n		if err := a.pass", "		if err := a.pass"}
