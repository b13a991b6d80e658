// Package client holds locks from Go programs: a handle around a spawned
// locksmith helper.
//
//	err := client.Do(ctx, "local:/var/lock/billing", func(ctx context.Context) error {
//		return bill(ctx) // cancelled as the caller's, and when the lock is lost
//	})
//
// Acquire and Release are for what does not fit into a function: Acquire waits as long
// as its context allows, TryAcquire does not wait, and Release returns when the lock has
// been removed. Who uses them looks at Lock.Context beside its own context, for that ends
// with the lock alone, and at the error of Release: it tells of a loss. A program that
// crashes or is killed needs to do nothing: the helper notices and releases.
//
// The helper is what the option Helper says, else the program whose path is in
// $LOCKSMITH, else this program itself after Init, else locksmith on PATH.
//
// Errors: ErrHeld (with *HeldError for who holds it), ErrNoHelper, *HelperError
// for what else the helper said, *ProtocolError for a helper that speaks
// nonsense, and the context's error and its cause; that is ErrHeld as well if somebody was
// seen to have the lock. A loss closes Lost, cancels Context with a
// *LostError as its cause, and is returned by Err and Release. A helper that gets
// SIGTERM releases, which is a loss too: systemd sends it to every process of a
// service, unless told KillMode=mixed.
//
// Caveat: between the moment a lock is lost and the moment a program stops, the
// program works without it. Where that must not be, pass Token on to what the
// lock guards and let it refuse older ones.
package client
