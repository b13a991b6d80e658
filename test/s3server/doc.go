// Package s3server starts object stores for tests, on loopback, and may put something before
// them that fails (Proxy). They are
//
//	versitygw-1.8.0   a directory as a store; several gateways may serve one
//	versitygw-1.2.0   an older one, which lets several win a race
//	versitygw-1.0.14  an older one, which ignores the condition
//	rclone            rclone serve s3, which lets several win a race
//	gofakes3          in memory, in the test's own process
//	gofakes3, …       the same with one flaw: it ignores the condition, or lets several win
//	moto              in memory; only where it is installed
//	s3rver            a directory as a store; ignores the condition; only where it is installed
//
// And there is MinIO on four nodes, one of which may be away (Cluster).
//
// The first four, and MinIO, are programs of other modules. Each has a module of its own below
// testdata, so that ours stays small; they and their libraries come from where all modules come
// from, and the first test that needs one compiles it. Some of their libraries are newer than
// those they were released with: where that makes them the same as the libraries of the others,
// or ours, these are compiled once for all.
//
// Every store has one bucket, and one user (Environment); the store of StartForUser has a second
// user, who may do less.
package s3server
