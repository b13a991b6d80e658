package main

import (
	"locksmith/backends/nfs/generation"
	"locksmith/test/explorer/explore"
)

// system is the code under test, with everything that it needs of the world.
func system(e explore.Env) explore.Lock {
	return &generation.Lock{Dir: e.Dir(), Address: "nfs:/lock", NewID: e.NewID, Judge: e.Judge, Keeper: e.Keeper, Today: e.Today}
}
