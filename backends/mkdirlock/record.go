package mkdirlock

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A record is kept in the names of directories, because a directory is all that
// there is: packed, and cut into parts. The first is in the name of the heartbeat,
// "<n>.<number of parts>.<part>", the others, if there are any, in "m.<i>.<part>".
const (
	partPrefix = "m."
	maxPart    = 225 // a name may have 255 bytes
	maxParts   = 32
)

// pack returns the parts of a record.
func pack(r owner.Record) ([]string, error) {
	text, err := r.Format()
	if err != nil {
		return nil, err
	}
	var parts []string
	for part := range slices.Chunk([]byte(base64.RawURLEncoding.EncodeToString(compress(text))), maxPart) {
		parts = append(parts, string(part))
	}
	if len(parts) > maxParts {
		return nil, fmt.Errorf("%w: the record is too long", protocol.ErrMalformed)
	}
	return parts, nil
}

// unpack reads what pack wrote.
func unpack(id string, parts []string) (owner.Record, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.Join(parts, ""))
	if err != nil {
		return owner.Record{}, fmt.Errorf("%w: %w", owner.ErrRecord, err)
	}
	text, err := decompress(raw)
	if err != nil {
		return owner.Record{}, fmt.Errorf("%w: %w", owner.ErrRecord, err)
	}
	record, err := owner.ParseRecord(text)
	if err == nil && record.ID != id {
		err = fmt.Errorf("%w: it is of another id", owner.ErrRecord)
	}
	return record, err
}

// beatName is the name of heartbeat n.
func beatName(n uint64, parts []string) string {
	return fmt.Sprintf("%d.%d.%s", n, len(parts), parts[0])
}

// extraNames are the names of the further parts.
func extraNames(parts []string) []string {
	var names []string
	for i, part := range parts {
		if i > 0 {
			names = append(names, partPrefix+strconv.Itoa(i)+"."+part)
		}
	}
	return names
}

// parseBeat reads the name of a heartbeat.
func parseBeat(name string) (n uint64, parts int, first string, ok bool) {
	fields := strings.Split(name, ".")
	if len(fields) != 3 {
		return 0, 0, "", false
	}
	n, err1 := strconv.ParseUint(fields[0], 10, 64)
	parts, err2 := strconv.Atoi(fields[1])
	return n, parts, fields[2], err1 == nil && err2 == nil && parts > 0 && parts <= maxParts
}

// recordIn reads the record from the names in an entry. Without one the note says
// why.
func recordIn(names []string, id string) (*owner.Record, string) {
	beat, count := latestBeat(names)
	if beat == "" {
		return nil, "it has no record"
	}
	_, _, first, _ := parseBeat(beat)
	parts := make([]string, count)
	parts[0] = first
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, partPrefix)
		number, part, _ := strings.Cut(rest, ".")
		if i, err := strconv.Atoi(number); ok && err == nil && i > 0 && i < count {
			parts[i] = part
		}
	}
	if slices.Contains(parts, "") {
		return nil, "its record is not complete" // without a part it may say anything
	}
	r, err := unpack(id, parts)
	if err != nil {
		return nil, "its record is not one of ours"
	}
	return &r, ""
}

// latestBeat returns the name of the newest heartbeat, "" for none, and how many
// parts its record has.
func latestBeat(names []string) (latest string, parts int) {
	var newest uint64
	for _, name := range names {
		if n, count, _, ok := parseBeat(name); ok && (latest == "" || n > newest) {
			latest, newest, parts = name, n, count
		}
	}
	return latest, parts
}
