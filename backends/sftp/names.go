//go:build unix

package sftp

import "strings"

// maxShown is how long a name may be before messages leave out its middle. A name with a ticket
// would hide the rest of the message.
const maxShown = 60

// shortPath is a path for people.
func shortPath(p string) string {
	parts := strings.Split(p, "/")
	for i, s := range parts {
		if len(s) > maxShown {
			parts[i] = strings.ToValidUTF8(s[:20], "") + "…" + strings.ToValidUTF8(s[len(s)-8:], "")
		}
	}
	return strings.Join(parts, "/")
}
