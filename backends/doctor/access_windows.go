package doctor

// mayWrite cannot tell here: trying tells.
func mayWrite(string) bool { return true }
