//go:build !race

package faulty

// stride is by how many calls a test moves a fault each time.
const stride = 3
