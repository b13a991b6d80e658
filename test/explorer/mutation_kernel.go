package main

// kernelMutations are wrong ways to lock with a file of one machine. Their files are in package
// local.
var kernelMutations = []mutation{
	{name: "a turn is overwritten", breaks: keeps, config: "local-turns-0", edits: []edit{{"queue_linux.go",
		"	case given:\n		q.ring()\n		return false\n", ""}}},

	{name: "a turn for nobody is kept", breaks: keeps, config: "local-withdraw-0", edits: []edit{{"queue_linux.go",
		"	if f := q.arrive(err); f != nil {\n		_ = f.Close()\n	}\n", "	q.arrive(err)\n"}}},

	{name: "whoever leaves takes no turn along", breaks: keeps, config: "local-withdraw-0", edits: []edit{{"baton.go",
		"	if f := a.lock.queue.leave(a.bell); f != nil {\n		a.batons.add(f)\n	}\n", "	a.lock.queue.leave(a.bell)\n"}}},

	{name: "batons are kept for ever", breaks: keeps, config: "local-queue-0", edits: []edit{{"hold.go",
		"	h.batons.pass()\n", ""}}},

	{name: "nobody looks by itself", breaks: stuck, config: "local-queue-0|local-crash-0", edits: []edit{{"queue_linux.go",
		"min(timeout, a.pauses.NextOr(a.nap+a.system.Random(a.nap)))", "timeout"}}},

	{name: "a maker does not look again", breaks: falseLoss, config: "local-short-2", edits: []edit{{"hold.go",
		"	if err = f.Named(); err == nil {", "	if err == nil {"}}},

	{name: "one try leaves an unfinished file", breaks: givesUp, config: "local-one-try-2", edits: []edit{{"attempt.go",
		"looks < looksAtUnfinished && a.expires(err)", "looks < looksAtUnfinished && false"}}},

	{name: "a dead one's file is removed without its kernel lock", breaks: hitsNext, config: "local-dead-1", edits: []edit{{"look.go",
		"	free, err := f.TryLock()\n", "	free, err := true, error(nil)\n"}}},

	{name: "a file is removed without a look", breaks: robs, config: "local-dead-1", edits: []edit{{"hold.go",
		"	err := f.Named()\n	if err == nil {", "	var err error\n	if err == nil {"}}},

	{name: "the lease counts though the kernel lock is kept", breaks: robs, config: "local-beat-2", edits: []edit{{"look.go",
		"err == nil && !seen.locked {", "err == nil {"}}},

	{name: "a heartbeat does not look at the path", breaks: silentLoss, config: "local-hand-beat-1", edits: []edit{{"hold.go",
		"	err := h.file.Named()\n	if err == nil {\n		err = h.file.TouchQuietly()\n	}\n", "	err := h.file.TouchQuietly()\n"}}},
}
