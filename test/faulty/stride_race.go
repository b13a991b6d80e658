//go:build race

package faulty

// stride is more where the race detector makes everything slow.
const stride = 29
