// Package storages measures which storage locks hold on: it makes backends/STORAGES.md.
//
// # Running it
//
//	go test -v ./test/storages -long -run 'TestStorages/SMB' -timeout 2h
//	go test -v ./test/storages -long -holds 50 -kinds '^mkdir:$' -run 'TestStorages/9p$'
//	go test ./test/storages -long -update -timeout 4h
//
// A storage is a server with a client and its options, or a file system of one machine. Each is
// measured in one guest (package guest). Without -long none is measured, as each takes a minute
// of a processor and more. What is seen must be what the page says, except for numbers and for
// what fails first; this holds also where the page says that nobody has measured yet. -update
// writes the page. The lab needs what a guest needs, and for each storage the programs that the
// table in cells_test.go names.
//
// # How it works
//
// Hosts mount the storage at /mnt/store, as guest/servers has it. For each kind of lock doctor
// looks at the place from each host. Then contenders on all hosts, which are test/history's
// programs, take one lock again and again, while chance kills them, their helpers or both, and an
// onlooker lists all directories. All kinds compete at the same time. When each lock was taken
// often enough, the host that has them is cut off until others have taken them, and comes back.
// Then the server is killed and started again, after which each host must get each lock. A client
// that never finds its server again mounts it anew.
//
// TestRenames has no lock at all: it tells whether renames of directories, on which mkdir: relies, do
// what they say, on GlusterFS and beside it.
//
// # What it tells
//
//   - holds: package holds finds no two holders, and tokens that rise; nobody was stuck; nobody
//     who was let alone lost the lock, but for a few on a machine that is busy
//   - refused: locksmith does not take a lock there, and says why
//   - fails: what was promised was broken
//
// Doctor must call fit, from each host, what holds, and nothing else. Where a program that was
// killed left an empty directory, which only age frees, the test is the operator who runs reap.
package storages
