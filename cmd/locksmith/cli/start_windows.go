package cli

// enoughFiles: there is no limit that is worth a look.
func enoughFiles() error { return nil }
