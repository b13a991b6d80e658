// Package formats holds what this version writes on disk, on servers and in stores, and what it
// says in JSON, beside golden files of it: names of files, directories and objects, records,
// successes, and the keys of events and of status, list and version.
//
// TestWritten fails when this version writes something else. TestRead has it read what a helper on
// another machine wrote. That is the moment to ask whether older versions can read the new, and
// the other way round, and to say so in cmd/locksmith/CHANGES.md. Then
//
//	go test ./test/formats -update
//
// writes new ones: on a machine whose name is web3, for TestRead knows it by that.
//
// What tries remember is compared in backends/watch, what break leaves in backends/owner, and
// whether versions exclude each other in test/history. sftp: has the layout of nfs:.
package formats
