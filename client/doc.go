// Package client holds locks from Go programs: a handle around a spawned
// locksmith helper.
//
//	lock, err := client.Acquire(ctx, "local:/var/lock/billing")
//	if err != nil {
//		return err // errors.Is(err, client.ErrHeld): somebody else has it
//	}
//	defer lock.Release()
//	return bill(lock.Context()) // cancelled when the lock is lost
//
// Acquire waits as long as its context allows; TryAcquire does not wait.
// Release returns when the lock has been removed. A program that crashes or is
// killed needs to do nothing: the helper notices and releases.
//
// The helper is what the option Helper says, else the program whose path is in
// $LOCKSMITH, else this program itself after Init, else locksmith on PATH.
//
// Errors: ErrHeld (with *HeldError for who holds it), ErrNoHelper, *HelperError
// for what else the helper said, *ProtocolError for a helper that speaks
// nonsense, and the context's error. A loss closes Lost, cancels Context with a
// *LostError as its cause, and is returned by Err and Release. A helper that gets
// SIGTERM releases, which is a loss too: systemd sends it to every process of a
// service, unless told KillMode=mixed.
//
// Caveat: between the moment a lock is lost and the moment a program stops, the
// program works without it. Where that must not be, pass Token on to what the
// lock guards and let it refuse older ones.
package client
