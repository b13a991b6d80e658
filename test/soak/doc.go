// Package soak looks for what grows: helpers hold locks for hours, others come and go,
// and nothing may be more at the end than at the beginning.
//
// # Running it
//
//	go test -v ./test/soak                                              # half a minute
//	go test -v ./test/soak -run TestProcesses -long -timeout 0          # half an hour
//	go test -v ./test/soak -run TestProcesses -long -for 8h -timeout 0  # a night
//
// Each prints a table of what it saw. A whole site, with hosts, a server and mishaps, lives in
// TestNight, whose page is NIGHT.md:
//
//	go test -v ./test/soak -run TestNight -night 90s -pace 10 -timeout 0              # to try it
//	go test -v ./test/soak -run TestNight -night 8h -page NIGHT.md -timeout 0         # as it is meant
//
// SIGINT to the test's process ends the night early, with what was seen until then.
//
// # TestHours
//
// Six hours on the time of a synctest bubble, with the helper and the algorithms as they are, over
// a directory in which all times are the bubble's: nfs:, mkdir: in both styles, link: (ftp: is
// mkdir: over another Dir), and a set of one of each. Each hour the same visits are made at three
// locks: one goes from hand to hand, one is held all the time, and one is left by a crash to be
// broken by its lease. Visitors share or not, with leases from a second to an hour. They give up,
// crash as they wait or hold, on this host or where nobody sees it, or are cut off; heartbeats fail
// now and then. After each hour goroutines, descriptors, heap, names at the lock's place, what is
// kept open there and the requests of the hour are compared with those of the first. That no two
// hold a lock at a time is judged by package holds; that all who wait for ever had it within the
// hour is checked on the way.
//
// local: and flock: are not among them: the kernel, which tells them who is dead or has the lock, knows
// no other time than its own.
//
// # TestProcesses
//
// Real processes on real places: local:, flock:, nfs:, link:, mkdir: and ftp: in both styles, and
// a set of three. At each a helper holds a lock all the time, while visitors want it in
// vain and are told to go, run out of time or are killed; another lock goes from hand to
// hand by run and hold, and is left behind by those who are killed. Memory, descriptors,
// threads and processor time of the helpers, names at the places and connections to the
// server are looked at again and again. After the first third, in which everything warms
// up, nothing may grow by more than a little in all. A dip on the way does not hide it.
//
// # TestNight
//
// Three hosts and an NFS server in a guest (package guest), at the pace of a real site: 200 jobs an
// hour take locks of nfs:, mkdir:?style=dir and local: by run, and try, wait, give up, and are
// killed, one each minute. The server crashes, and now and then stays away for longer than the
// lease; its disk is full once; the wall clock is set to and fro. On each kind a helper holds a
// lock all night. Package holds judges who had which lock; whoever still worked when its lease
// had run out was not told of its loss; whoever ended otherwise than a kill, an outage or the full
// disk explains is a fault, and so is a lock that nobody had for long while somebody wanted it. The
// holders' memory, descriptors and threads, names at the places, and what tries remember on the
// hosts may not grow.
//
// # What it cannot show
//
// What grows by less than a few bytes in an hour; what needs a network, or more processes
// than a few, to grow. In its short form TestProcesses says little about memory.
package soak
