package labels

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/backends/tokens"
)

// A success is kept as a directory beside the lock in dir style, with the name
// done.<n>.<id>.<seconds>.<host>. The greatest n is the last. Its age is by the server's times:
// its own is compared with that of a directory made just now. The seconds, since 1970, are by the
// clock of the holder, and for people. Locksmiths that know nothing of successes leave them
// alone, and refuse to remove the lock.

// SuccessPrefix begins the names of successes.
const SuccessPrefix = "done."

// MaxHost bounds the name of a host in a name, in bytes.
const MaxHost = 64

// A Succeeded is what is in the name of a success.
type Succeeded struct {
	Number uint64
	ID     string
	At     int64
	Host   string
}

func (s Succeeded) String() string {
	return fmt.Sprintf("%s%d.%s.%d.%s", SuccessPrefix, s.Number, s.ID, s.At, base64.RawURLEncoding.EncodeToString([]byte(s.Host)))
}

// ParseSuccess reads what String wrote, and nothing else.
func ParseSuccess(name string) (Succeeded, bool) {
	rest, ok := strings.CutPrefix(name, SuccessPrefix)
	fields := strings.Split(rest, ".")
	if !ok || len(fields) != 4 {
		return Succeeded{}, false
	}
	n, err1 := strconv.ParseUint(fields[0], 10, 64)
	at, err2 := strconv.ParseInt(fields[2], 10, 64)
	host, err3 := base64.RawURLEncoding.DecodeString(fields[3])
	s := Succeeded{n, fields[1], at, string(host)}
	return s, err1 == nil && err2 == nil && err3 == nil && n > 0 && n < tokens.Max && owner.IsID(s.ID) && s.String() == name
}

// IsSlip reports whether a name beside a lock is that of a success, or of a part of a note.
func IsSlip(name string) bool {
	_, done := ParseSuccess(name)
	_, note := parseNotePart(name)
	return done || note
}

// SuccessesIn returns the successes among the names in the lock's directory.
func SuccessesIn(names []string) (all []shelf.Slip) {
	for _, name := range names {
		if s, ok := ParseSuccess(name); ok {
			all = append(all, shelf.Slip{Name: name, Number: s.Number, At: time.Unix(s.At, 0), Host: s.Host})
		}
	}
	return all
}
