package memory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Token returns the greatest fencing token of the lock at a canonical address that this user is known
// to have had before, and the file that says so; 0: none is known. If keep is true it remembers the
// token that the user has now, unless that is not worth a file (isWorth).
//
// A token counts for good, so the file is in the place that lasts longest. It has the number and the
// address.
func Token(lock string, token uint64, keep bool) (before uint64, file string, err error) {
	name, lasting := nameOf("token", lock), places()
	slices.Reverse(lasting)
	text, file, err := load(lasting, name)
	if err != nil {
		return 0, "", err
	}
	if number, of, _ := strings.Cut(text, " "); of == lock+"\n" {
		before, _ = strconv.ParseUint(number, 10, 64) // a damaged file is replaced
	}
	if keep && isWorth(token, before) {
		err = save(lasting, name, fmt.Sprintln(token, lock))
	}
	return before, file, err
}

// isWorth reports whether a token is worth a write. No token is smaller than 1. Beyond the first few,
// one that is an eighth greater tells of a restart as well, and spares nearly every run the write.
func isWorth(token, before uint64) bool {
	return token > 1 && token > before && token-before > before/8
}
