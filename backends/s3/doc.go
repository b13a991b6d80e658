// Package s3 locks in an object store that speaks the protocol of Amazon S3:
// "s3://bucket/prefix".
//
// Purpose: exclusive locks for fleets that share nothing but a bucket. The prefix is the
// lock's own: it has some objects of some bytes, and one of them stays when the lock is
// free. The algorithm, and what the objects are, is package objects'.
//
//	?endpoint=https://host:port  another store than Amazon's
//	?region=eu-central-1         else as the library finds it
//	?path=style                  the bucket in the path instead of the host's name
//
// Credentials are found by the library, as all its programs find them: in the environment,
// in ~/.aws with AWS_PROFILE, by roles of the instance, the container or a web identity. They
// are no part of an address.
//
// Promised, where the store keeps what it promises: one holder; a token that rises with
// every holder; a queue, which bounds how many ask often; holders that died are removed, at
// once by waiters on their host, and after a lease by waiters elsewhere.
//
// The explorer (test/explorer) runs the algorithm in every order of requests there is for a few
// lockers, and finds none that breaks it.
//
// Caveats. Many stores accept a condition and let several win, or ignore it: "locksmith
// doctor" races for hours if asked to, and finds most of those in a second. All must use one
// store under one endpoint; a bucket that is replicated is as many locks as there are
// copies. Objects must not be versioned, locked or expired by rules for the prefix. Whoever
// may write there can break any lock. A clock that is more than 15 minutes wrong keeps a host
// out, but harms nobody. Shared locks there are none.
//
// Requests are sent once and have a deadline; what the library would repeat by itself, the
// algorithm asks about instead. Redirects are not followed.
package s3
