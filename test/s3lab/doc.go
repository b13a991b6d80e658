// Package s3lab tests s3: locks at real object stores on this machine's loopback, with the
// programs and with the backend itself.
//
// # Running it
//
//	go test -v ./test/s3lab
//	go test -v ./test/s3lab -stores 'versitygw' -scenarios 'unfit'
//	go test -v ./test/s3lab -long
//
// A scenario runs at stores; the table in lab_test.go says at which. Without -long it runs at
// some of them. Package test/s3server starts the stores, and says where they come from. The first
// run compiles the store that is fit. The unfit programs, which take as long again to compile,
// are tested only with -long; without it, stores in the test's own process that have one flaw
// each stand for them. Two stores are tested only with -long and only where they are installed,
// for no package has them: moto and s3rver.
//
// Contenders are killed with -9 at any moment of a lock's life; package contest judges what they
// wrote down under the lock. Gateways are killed as well, even all of them for longer than a
// lease. A proxy before them loses answers, halves them, turns them into 503, answers 404 itself,
// or has requests executed twice. A helper that then gives up because the store does not answer
// is no fault; that two have the lock, or that somebody waits for ever, is.
//
// Where two gateways serve one directory, requests go to them by turns, as a balancer would send
// them.
//
// TestCluster, with -long, is apart from these: it compiles MinIO, which takes some four minutes of
// a processor, and runs it on four nodes in network namespaces of their own. README.md beside this
// file has what it saw.
//
// # What it cannot show
//
// All is on one machine: one clock, no latency, one file system below the gateways, plain
// HTTP; the nodes of the cluster share that machine, too. Amazon's own store was not tried, nor
// others that cannot be had as programs.
package s3lab
