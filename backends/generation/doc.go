// Package generation is what locks with numbered generations share, whatever keeps them: for
// nfs: and sftp: symbolic links in directories (package symlinks), for s3: objects (package
// objects). Each of the two is a form of one algorithm:
//
//   - A locker makes a reservation. It is also its place in the queue.
//   - The lock belongs to the reservation that the newest generation names, for as long as that
//     reservation exists.
//   - If that has ended, the locker creates the next generation, which names its own. Exactly
//     one creation of a number succeeds, and no number comes back: it is the fencing token.
//   - The winner makes sure that its number is the newest, and that its own reservation was
//     there all the time.
//   - To release the lock, or to break it, the reservation is removed.
//
// This package says how an attempt goes on from one try to the next (Try, Wait, Withdraw), until
// when a heartbeat counts (Claim), how many old generations stay (Kept), and what successes are
// called. The steps that take the lock are each form's own, because a rule of safety stands at most of
// them. One function for both was tried, over ten calls and four rules:
// it behaved the same in the explorer's worlds of nfs: and s3:, was no shorter (3,615 lines of code
// instead of 3,586), and the last three steps each came apart into three places. The forms differ in:
//
//	step                   symbolic links                         objects
//	reservation            a directory                            an object, never written again
//	heartbeat              sets its time; fails if it is gone     an object of its own, then a look
//	who waits              names, in the order of their tickets   what one listing shows, by the store's clock
//	no answer to a create  is taken for "it exists"               the same is asked for again
//	not the newest         tries again with its reservation       takes another ticket
//	the last look          a listing, then a heartbeat            a heartbeat, then a listing with the reservation in it
//	who has the lock       the maker of a reservation, or all     the maker of a reservation
//	                       members of a shared one
//	clean-up               after each heartbeat                   with every 16th, as a listing is dear
package generation
