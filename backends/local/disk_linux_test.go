package local

import (
	"testing"

	"locksmith/backends/backendtest"
)

// TestFullDisk: the file can be made, but there is no room for the record.
func TestFullDisk(t *testing.T) {
	backendtest.FullDisk(t, func(path string) error { return try(path, nil) })
}
