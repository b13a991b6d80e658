//go:build unix

package link

import (
	"path/filepath"
	"testing"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// TestFullDisk: the claim can be made, but there is no room for the record.
func TestFullDisk(t *testing.T) {
	backendtest.FullDisk(t, func(path string) error { return try(path, nil) })
}

// TestFAT: doctor says that FAT has no hard links.
func TestFAT(t *testing.T) {
	if !backendtest.AsRoot(t) {
		return
	}
	dir := backendtest.Image(t, "vfat", "1M", "mkfs.vfat")
	err := try(filepath.Join(dir, "lock"), nil)
	mustFail(t, err, protocol.CannotCreate, "use mkdir: or local: instead")
	mustBeEmpty(t, dir)
	all, err := examined(t, openLock(t, filepath.Join(dir, "lock")))
	mustWork(t, err)
	if all["hard links"].Finding != backend.Unfit {
		t.Errorf("doctor on FAT finds %+v, want hard links unfit", all)
	}
	mustBeEmpty(t, dir)
}
