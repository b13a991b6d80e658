package mishaps

// All are the rows of the table.
var All = []Mishap{
	ParentKilled, ParentStopped, BothKilled, HelperKilled, OutOfMemory, BrieflyStopped, LongStopped,
	RunKilled, CommandKilled, CommandStopped,
	DiskFull, FilesAhead, FilesBack, ClocksAhead, ClocksBack, KilledAhead, KilledBack, KilledElsewhen, Suspended, LongSuspended,
	ServerBack, ServerBackLate, Cut, RequestsCut, AnswersCut, AnswersLost,
}

// What a cell says: when the rival got the lock, and what the victim's parent heard.
const (
	AtOnce         = "free at once"
	AfterLease     = "free after the lease"
	AfterReturn    = "free once it is back"
	AfterWaking    = "free once they are awake"
	HeldOn         = "held on"
	HeldUntilAwake = "held until it runs again"
	WaitsOn        = "waits on, has it next"
	EitherSaid     = "LOST or RELEASED"

	output     = ", output: "
	released   = output + "OK, RELEASED"
	eitherSaid = output + "OK, " + EitherSaid // a holder that has let go need not know whether it was broken meanwhile
	lostBefore = output + "OK, LOST before that"
	lostAfter  = output + "OK, LOST after that"
	nobodyLeft = output + "nobody is left"
	// A victim that has not said OK goes on trying to get the lock, until its parent lets go, or
	// until trying makes no sense any more.
	notOKYet = output + "ERR"
	// The first request of the release is under way. It reaches the server, or it does not.
	anyRelease = AtOnce + eitherSaid + "; " + AfterLease + eitherSaid
)

var (
	// survives: nothing happens to the victim.
	survives = Expectation{Waiting: WaitsOn + released, Releasing: AtOnce + released, "": HeldOn + released}
	// dies: the lease decides, because the parent may go on working.
	dies = Expectation{
		// The kernel frees the lock of a dead process: the parent may learn of it later than others.
		"flock: " + Waiting: AtOnce + output + "end of output", "flock: " + AtOK: AtOnce + output + "end of output",
		"flock: " + Holding: AtOnce + output + "OK, end of output", "flock: " + Heartbeat: AtOnce + output + "OK, end of output",
		"flock: " + Releasing: AtOnce + output + "OK, end of output",

		Waiting:                     AtOnce + output + "end of output",
		AtOK:                        AfterLease + output + "end of output",
		Elsewhere + " " + Releasing: AtOnce + output + "OK, end of output",
		"":                          AfterLease + output + "OK, end of output before that",
	}
	// isCutOff: the victim gives up by its own clock.
	isCutOff = Expectation{
		Waiting: AtOnce + released, Releasing: AfterLease + eitherSaid, "": AfterLease + lostBefore,
		Elsewhere + " " + AtOK: AfterLease + notOKYet, Elsewhere + " " + Releasing: anyRelease,
	}
	// isDead: everything is dead, as far as that can be proved.
	isDead = Expectation{
		"": AtOnce + nobodyLeft, Elsewhere: AfterLease + nobodyLeft,
		Elsewhere + " " + Waiting: AtOnce + nobodyLeft, Elsewhere + " " + Releasing: AtOnce + nobodyLeft,
	}
)

// What may happen to parents, helpers and commands.
var (
	ParentKilled   = Mishap{What: "parent killed (-9)", Orphan: true, Want: Expectation{"": AtOnce + nobodyLeft}}
	ParentStopped  = Mishap{What: "parent stopped (SIGSTOP)", Want: survives}
	BothKilled     = Mishap{What: "helper and parent killed (-9)", Orphan: true, Want: isDead}
	HelperKilled   = Mishap{What: "helper killed (-9), its parent lives", Want: dies}
	OutOfMemory    = Mishap{What: "helper killed for want of memory, its parent lives", Want: dies}
	BrieflyStopped = Mishap{What: "helper stopped (SIGSTOP) for an eighth of its lease", Want: survives}
	LongStopped    = Mishap{What: "helper stopped (SIGSTOP) for longer than its lease",
		Want: isCutOff.but(Expectation{
			"": AfterLease + lostAfter,
			// A stopped helper keeps the kernel lock, and finds its file when it runs again.
			"local: " + AtOK: HeldOn + released, "local: " + Holding: HeldOn + released, "local: " + Heartbeat: HeldOn + released,
			"flock: " + AtOK: HeldOn + released, "flock: " + Holding: HeldOn + released, "flock: " + Heartbeat: HeldOn + released,
			"flock: " + Releasing: HeldUntilAwake + released,
			// The first step is the whole release. With mkdir: it leaves an empty directory,
			// which counts for 5 s.
			"local: " + Releasing: AtOnce + eitherSaid, "nfs: " + Releasing: AtOnce + eitherSaid,
			"link: " + Releasing: AtOnce + eitherSaid, "mkdir: " + Releasing: AtOnce + eitherSaid,
		})}
	RunKilled = Mishap{What: "run killed (-9)", Run: true, Not: notOK, Want: Expectation{
		Waiting: AtOnce + output + "signal 9", "": AtOnce + output + "OK, signal 9",
		Elsewhere + " " + Waiting: AtOnce + output + "exit 137", Elsewhere + " " + Releasing: AtOnce + output + "OK, exit 137",
		Elsewhere: AfterLease + output + "OK, exit 137",
	}}
	CommandKilled  = Mishap{What: "command of run killed (-9)", Run: true, Not: notOutside, Want: Expectation{"": AtOnce + output + "OK, exit 137"}}
	CommandStopped = Mishap{What: "command of run stopped (SIGSTOP)", Run: true, Not: notOutside, Want: Expectation{"": HeldOn + output + "OK, exit 0"}}
)

var (
	notOK      = map[string]string{AtOK: "n/a: run says nothing, and its command is in the next column"}
	notOutside = map[string]string{
		Waiting:   "n/a: the command was not started",
		AtOK:      "n/a: the command was not started",
		Releasing: "n/a: the command has ended",
	}
)

// What may happen to machines, their disks and their clocks.
var (
	// DiskFull: no byte and no name is left on the disk.
	DiskFull = Mishap{What: "disk full", Want: survives.but(Expectation{"mkdir: " + Waiting: "gives up" + output + "ERR code=cannot_create"})}
	// FilesAhead and FilesBack are what others see of a host whose clock is set.
	FilesAhead  = Mishap{What: "times of files jump ahead by an hour", Want: survives}
	FilesBack   = Mishap{What: "times of files jump back by an hour", Want: survives}
	ClocksAhead = Mishap{What: "clocks of all hosts and the server set ahead by an hour", Want: survives}
	ClocksBack  = Mishap{What: "clocks of all hosts and the server set back by an hour", Want: survives}
	KilledAhead = Mishap{What: "helper and parent killed (-9), and all clocks set ahead by an hour", Orphan: true, Want: isDead}
	KilledBack  = Mishap{What: "helper and parent killed (-9), and all clocks set back by an hour", Orphan: true, Want: isDead}
	// KilledElsewhen: the start times of processes are shifted, too, so they prove nothing.
	KilledElsewhen = Mishap{What: "helper and parent killed, whose clock since boot is a day ahead", Orphan: true,
		Not:  map[string]string{Waiting: sameClock, AtOK: sameClock, Heartbeat: sameClock, Releasing: sameClock},
		Want: Expectation{"": AfterLease + nobodyLeft, "flock: " + Holding: AtOnce + nobodyLeft}}
	Suspended     = Mishap{What: "all hosts and the server suspended for a third of the lease", Want: survives}
	LongSuspended = Mishap{What: "all hosts and the server suspended for longer than the lease", Want: Expectation{
		Waiting: WaitsOn + released, AtOK: AfterWaking + notOKYet, Releasing: AfterWaking + eitherSaid, "": AfterWaking + lostBefore}}
)

const sameClock = "n/a: what differs is seen in the column holding"

// What may happen to servers and the way to them.
var (
	ServerBack = Mishap{What: "server crashed, back within the lease",
		Want: survives.but(Expectation{Elsewhere + " " + Releasing: AfterReturn + eitherSaid})}
	ServerBackLate = Mishap{What: "server crashed, back after the lease", Want: Expectation{
		Waiting: WaitsOn + released, "": AfterReturn + lostBefore,
		Elsewhere + " " + AtOK: AfterReturn + notOKYet, Elsewhere + " " + Releasing: AfterReturn + eitherSaid}}
	Cut         = Mishap{What: "way to the server cut, both ways", Want: isCutOff}
	RequestsCut = Mishap{What: "way to the server cut", Want: isCutOff}
	AnswersCut  = Mishap{What: "way back from the server cut", Want: isCutOff}
	// AnswersLost: answers are lost for a moment, or with the connection.
	AnswersLost = Mishap{What: "answers of the server lost once",
		Want: survives.but(Expectation{Elsewhere + " " + Releasing: AtOnce + eitherSaid})}
)
