// Package objects locks with numbered objects in a store that can create an object only if there
// is none. It is the algorithm, apart from the few requests that it needs (Store).
//
//	g.<N>        generation N = 1, 2, 3…, 20 digits; its content is its holder's ticket. N is the fencing token
//	r.<ticket>   reservation: the record of who made it; also a place in the queue
//	b.<ticket>   the last heartbeat of who made the reservation; none before the first
//	s.<N>-<id>   the holder of generation N succeeded (shelf.go); no part of the lock
//	broken.<lease>-<id>  who broke that acquisition by hand (shelf.go); no part of the lock
//	x.<ticket>   never made: its removal tells who may remove objects (mayRemove)
//
// It is the algorithm of package generation, as that of nfs: (package symlinks), with these
// rules of its own:
//
//   - No answer counts but success. After "there is one already", any other refusal that may
//     come late, or no answer at all, the generation's content tells whose it is. That there is
//     no generation yet is not final, because a request may be executed later than its answer is
//     due: the same is asked for again. A locker that gives up removes its reservation, so a
//     generation that comes later has ended already.
//   - Only the store's own word proves that an object is not there: the code NoSuchKey, to a
//     request that reads it. Any other 404 may be a proxy's or a balancer's. A look (HEAD) has
//     no words, so what it does not find is read (sure). The exception is where the worst that
//     follows is one more look: a waiter's looks for the end of a hold and for the next
//     generation (wait.go). A 404 to a request that writes, removes or lists is no answer.
//   - If something was just listed and then is not there, that is no proof either: all is listed
//     again.
//   - A listing is not one moment: it may show a generation, and not the reservation that was
//     made before. So a generation's reservation is looked for by its name.
//   - A reservation whose request had no answer is removed, and its name is never used again: a
//     late copy of the request would bring back what others took for gone.
//   - A heartbeat is an object of its own, and then three looks. The reservation must be there.
//     There must be no next generation. The own generation must be there, because old ones are
//     removed in their order, and must still be ours, because a late locker may make an old
//     number again. A heartbeat never writes what somebody may have removed. That there is no
//     heartbeat means nothing. After a lease of silence a heartbeat renews nothing: somebody may
//     be about to remove the reservation.
//   - A locker that was silent for a lease before its generation was confirmed gives the
//     generation up. It ends after three of them in a row, because its requests take longer than
//     its lease. If somebody else is seen to hold meanwhile, the count begins anew. So beside a
//     client that is always faster it waits on, without the lock and without a word, until its
//     timeout.
//   - Nothing is removed under a condition: half of the stores ignore it.
//   - A release removes old generations, the oldest first, and stops after 20, or at one that was
//     not removed. While the store removes nothing, each holder leaves one. They go with later
//     releases: after the last holder some may stay, until there is a next one.
//   - The newest generation is never removed, not even with the lock: whoever has just read its
//     number would make the next one.
//
// A holder is dead by proof (owner.Record.Verdict) or after a whole lease without a heartbeat,
// as watched on the observer's own clock. A locker sends a heartbeat within the try that wins,
// and starts again with a new ticket if it was silent for a whole lease.
//
// The queue is for fairness and not a rule of safety. Requests cost money: a waiter asks for
// single objects, and lists only when the lock may be had.
//
// What it needs of the store: a conditional creation that has exactly one winner, and that what
// was written, or removed, is so for everybody in all requests that begin later. A page of a
// listing may mix moments, if others do not take three turns in between. Package s3's doctor
// finds stores that promise this and do not keep it.
//
// For stores that keep it, command explorer runs this code in every order of requests that a few
// lockers can make, with crashes, pauses, lost answers, and requests that are executed late or
// twice. It finds no two holders, no lock that is stuck, no token that falls and no loss that is
// not told; and what is wrong if one of the rules above is left out.
package objects
