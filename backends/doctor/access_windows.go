package doctor

// mayWrite is left to those who try.
func mayWrite(string) bool { return true }
