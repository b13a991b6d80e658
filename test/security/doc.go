// Package security attacks locksmith on one machine as other users could: with what
// they plant where locks are, with records that they forge, with the limits and
// descriptors that they start it with. README.md says what happens in each case.
package security
