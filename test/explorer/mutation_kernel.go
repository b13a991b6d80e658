//go:build unix

package main

// kernelMutations are wrong ways to lock with a file of one machine. Their files are in package
// local.
var kernelMutations = []mutation{
	{name: "a turn is overwritten", breaks: keeps, config: "local-turns-0", edits: []edit{change("queue.begin", "given", "")}},

	{name: "a turn for nobody is kept", breaks: keeps, config: "local-withdraw-0", edits: []edit{change("queue.give", "nobody", "q.arrive(err)")}},

	{name: "whoever leaves takes no turn along", breaks: keeps, config: "local-withdraw-0", edits: []edit{change("attempt.leaveQueue", "take-along", "a.lock.queue.leave(a.bell)")}},

	{name: "batons are kept for ever", breaks: keeps, config: "local-queue-0", edits: []edit{change("hold.passBatons", "pass", "")}},

	{name: "nobody looks by itself", breaks: stuck, config: "local-queue-0|local-crash-0", edits: []edit{change("attempt.sleepInQueue", "nap", "return a.system.Rest(ctx, a.bell, timeout)")}},

	{name: "a maker does not look again", breaks: twoHolders, config: "local-short-2", edits: []edit{change("Lock.writeRecord", "named", "if err == nil {$body}")}},

	{name: "one try leaves an unfinished file", breaks: givesUp, config: "local-one-try-2", edits: []edit{change("attempt.Try", "unfinished", "")}},

	{name: "a dead one's file is removed without its kernel lock", breaks: hitsNext, config: "local-dead-1", edits: []edit{change("attempt.lockAndRead", "kernel", "free, err := true, error(nil)")}},

	{name: "a file is removed without a look", breaks: robs, config: "local-dead-1", edits: []edit{change("Lock.remove", "named", "var err error")}},

	{name: "the lease counts though the kernel lock is kept", breaks: robs, config: "local-beat-2", edits: []edit{change("attempt.judge", "kernel", "if seen, err = see(); err == nil {$body}")}},

	{name: "a heartbeat does not look at the path", breaks: silentLoss, config: "local-hand-beat-1", edits: []edit{change("hold.Heartbeat", "named", "err := error(nil)")}},
}
