// Package s3 locks in an object store that speaks the protocol of Amazon S3:
// "s3://bucket/prefix".
//
// Purpose: exclusive locks for fleets that share only a bucket. The prefix is the lock's own. It
// has some objects of some bytes, and one of them stays when the lock is free. Package objects
// has the algorithm, and says what the objects are.
//
//	?endpoint=https://host:port  another store than Amazon's
//	?region=eu-central-1         else as the library finds it
//	?path=style                  the bucket in the path instead of the host's name
//
// The library finds credentials as in all its programs: in the environment, in ~/.aws with
// AWS_PROFILE, by roles of the instance, the container or a web identity. They are no part of an
// address.
//
// Promised, if the store keeps its promises: one holder; a token that rises with every holder; a
// queue, which bounds how many ask often; dead holders are removed, at once by waiters on their
// host, and after a lease by waiters elsewhere.
//
// The explorer (test/explorer) runs the algorithm in every order of requests for a few lockers,
// and finds none that breaks it.
//
// Caveats. Many stores accept a condition and let several win, or ignore it. "locksmith doctor"
// finds most of those in a second, and races for hours if asked to. All must use one store under
// one endpoint. A bucket that is replicated is as many locks as there are copies. Objects must
// not be versioned, locked or expired by rules for the prefix. Whoever may write there can break
// any lock. A clock that is more than 15 minutes wrong keeps a host out, but harms nobody. There
// are no shared locks.
//
// Each request is sent once, with a deadline. Where the library would repeat it, the algorithm
// asks what has become of it. Redirects are not followed.
package s3
