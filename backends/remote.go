package backends

import "locksmith/backends/backend"

// RemoteProgram is the program that has the Remote kinds beside the Usual ones. Their
// libraries are so large that each start of a helper would pay for them.
const RemoteProgram = "locksmith-remote"

// S3 is the scheme of locks in object stores.
func S3() backend.Scheme {
	return backend.Scheme{Name: "s3", Port: "443", About: "objects in a bucket, for hosts that share nothing else; with a queue"}
}

// Etcd is the scheme of locks in etcd.
func Etcd() backend.Scheme {
	return backend.Scheme{Name: "etcd", Port: "2379", Several: true, About: "keys in etcd, for sites that have outgrown one server; shared, with a queue"}
}

// Remote are the schemes of the kinds that only RemoteProgram has.
func Remote() []backend.Scheme { return []backend.Scheme{S3(), Etcd()} }
