//go:build !linux

package inotify

// A Watcher watches nothing here.
type Watcher struct{}

// Close does nothing.
func (*Watcher) Close() {}
