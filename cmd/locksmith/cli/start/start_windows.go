package start

// enoughFiles: Windows has no limit that is worth a look.
func enoughFiles() error { return nil }
