package bench

import "strings"

// A rival is one way to have a lock, ours or others'. A way of use that a rival does not have is
// nil. In the others fill replaces names in braces by paths.
type rival struct {
	name   string
	scheme string   // of ours, which must not fail
	style  string   // of ours, with ?style=; "": the usual one
	probe  string   // a shell's command that works where it is installed; "" needs nothing
	sleeps bool     // for seconds, between two tries
	slow   bool     // to start
	forks  bool     // while it waits, so that the kernel cannot tell what time it uses for what
	apart  bool     // its waiters are looked at when no others wait
	most   int      // as many at a time as are worth measuring; 0: any number
	run    []string // before a command, to have it under the lock
	hold   []string // says OK under the lock and stays until its standard input ends
	loop   []string // counts under the lock, as scripts/loop.sh says
}

// Ours. All of them wait for files with one user's inotify instances, so those that need most of
// these wait apart.
var (
	local        = ours("local:")
	nfs          = ours("nfs:") // the lock that several hosts may share, here on a local disk
	mkdir        = crowdless(ours("mkdir:"))
	mkdirTree    = crowdless(styled(ours("mkdir:"), "dir"))
	link         = crowdless(ours("link:"))
	flockStays   = withFlag(ours("flock:"), "")
	flockBecomes = withFlag(ours("flock:"), "-F")
	localSingle  = singleProc(local)
	nfsSingle    = singleProc(nfs)
	localBackend = helpless(local)
	nfsBackend   = helpless(nfs)
	ftp          = rival{name: "locksmith ftp:", hold: words("{locksmith} hold --lease 60 ftp://lock@{ftp}/idle")}
)

func ours(scheme string) rival {
	return rival{name: "locksmith " + scheme, scheme: scheme, apart: scheme == "nfs:",
		run:  words("{locksmith} run " + scheme + "{lock} --"),
		hold: words("{locksmith} hold --lease 60 " + scheme + "{lock}"),
		loop: words("{looper} client " + scheme + "{lock}"),
	}
}

// withFlag is a rival of ours by the kernel's lock, which has no lease. A run that becomes its
// command holds as a tool does: by the command.
func withFlag(r rival, flag string) rival {
	if r.hold = words("{locksmith} hold flock:{lock}"); flag != "" {
		r.name += " " + flag
		r.run = words("{locksmith} run " + flag + " flock:{lock} --")
		r.hold = with(r.run, untilEOF...)
	}
	return r
}

// mostPollers is how many processes are measured of rivals whose waiters have no queue, but ask.
const mostPollers = 200

func crowdless(r rival) rival {
	r.most = mostPollers
	return r
}

func styled(r rival, style string) rival {
	r.name, r.style = r.name+"?style="+style, style
	for _, argv := range [][]string{r.run, r.hold, r.loop} {
		for i, word := range argv {
			if strings.HasSuffix(word, "{lock}") {
				argv[i] += "?style=" + style
			}
		}
	}
	return r
}

// singleProc is ours started as the Go client starts helpers.
func singleProc(r rival) rival {
	return rival{name: r.name + ", GOMAXPROCS=1", scheme: r.scheme, hold: append(words("env GOMAXPROCS=1"), r.hold...)}
}

// helpless is ours in a Go program that uses the backends, without helpers.
func helpless(r rival) rival {
	return rival{name: "without helper, " + r.scheme, scheme: r.scheme, loop: words("{looper} backend " + r.scheme + "{lock}")}
}

// Others'.
var (
	floor       = rival{name: "bare Go spawn", run: words("{floor}"), hold: words("{floor}")} // takes no lock at all
	peer        = rival{name: "Go spawn, our libraries and signals", run: words("{peer}")}    // nor does this
	kernel      = rival{name: "flock(2) in Go", loop: words("{looper} flock {lock}")}         // as much as loops can do
	alone       = rival{name: "that command alone", hold: untilEOF}
	flock       = tool("flock(1)", "flock", words("flock {lock}"))
	setlock     = tool("s6-setlock", "s6-setlock", words("s6-setlock {lock}"))
	dotlockfile = sleeper(tool("dotlockfile -r -1", "dotlockfile", words("dotlockfile -l -r -1 {lock}")))
	procmail    = sleeper(tool("lockfile (procmail)", "lockfile", script(`lockfile "$0" && { "$@"; rm -f "$0"; }`)))
	mkdirLoop   = poller(tool("mkdir loop (sh, sleep 0.05)", "mkdir", script(`until mkdir "$0.d" 2>/dev/null; do sleep 0.05; done; "$@"; rmdir "$0.d"`)))
	etcdctl     = client(tool("etcdctl lock", "etcdctl && command -v etcd", words("etcdctl --endpoints {etcd} lock -- {lock}")))
	flufl       = library("flufl.lock (Python)", "/usr/bin/python3 {scripts}/flufl.py")
	proper      = library("proper-lockfile (Node)", "node {scripts}/proper-lockfile.js")
	perlNFSLock = library("File::NFSLock (Perl)", "perl {scripts}/nfslock.pl")
)

func words(line string) []string { return strings.Fields(line) }

func script(text string) []string { return []string{"sh", "-c", text, "{lock}"} }

// untilEOF is the command of a tool's holder.
var untilEOF = []string{"sh", "-c", "echo OK; exec cat"}

// tool runs commands under a lock.
func tool(name, program string, run []string) rival {
	return rival{name: name, probe: "command -v " + program, run: run, hold: with(run, untilEOF...)}
}

func with(argv []string, more ...string) []string { return append(argv[:len(argv):len(argv)], more...) }

// sleeper sleeps between two tries: dotlockfile for 5 s and then for longer, procmail's
// lockfile for 8 s.
func sleeper(r rival) rival {
	r.sleeps = true
	return r
}

// poller is what scripts do without a tool.
func poller(r rival) rival {
	r.forks, r.apart, r.loop = true, true, words("sh {scripts}/loop.sh {lock}")
	return r
}

// client asks our own server. Its commands do not get its standard input.
func client(r rival) rival {
	r.slow, r.hold = true, append([]string{"sh", "-c", `exec "$@" sh -c "echo OK; cat </proc/$$/fd/0"`, "sh"}, r.run...)
	return r
}

// library is a library that programs link, in a script of its own language that knows the verbs
// probe, run and loop. Libraries sleep for a second or more, flufl.lock for one on average.
func library(name, script string) rival {
	return rival{name: name, probe: script + " probe", sleeps: true, slow: true,
		run: words(script + " run {lock}"), loop: words(script + " loop {lock}"),
	}
}
