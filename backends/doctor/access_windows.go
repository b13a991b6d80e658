package doctor

// mayWrite cannot be told here: trying tells.
func mayWrite(string) bool { return true }
