// Package wine runs what is built for Windows under Wine, where that is installed. Wine
// is not Windows: what passes here has been seen to work once, on something like it.
package wine
