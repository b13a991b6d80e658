// Package formats holds golden files of what this version writes on disk, on servers and in
// stores, and of what it says in JSON: names of files, directories and objects, records,
// successes, and the keys of events and of status, list and version.
//
// TestWritten fails when this version writes something else. TestRead has it read what a helper
// on another machine wrote. If one fails, ask whether older versions can read what this one
// writes, and the other way round, and say so in cmd/locksmith/CHANGES.md. Then
//
//	go test ./test/formats -update
//
// writes new golden files. Run it on a machine whose name is web3, because TestRead expects that
// name.
//
// backends/watch compares what tries remember, backends/owner what break leaves, and
// test/history whether versions exclude each other. sftp: has the layout of nfs:.
package formats
