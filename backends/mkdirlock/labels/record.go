package labels

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A record is packed, cut into parts, and kept in the names of directories, for there is nothing
// else to keep it in. The first part is in the name of the heartbeat, "<n>.<number of
// parts>.<part>", the others, if there are any, in "m.<i>.<part>".
const (
	PartPrefix = "m."
	maxPart    = 225 // a name may have 255 bytes
	MaxParts   = 32
)

// Pack returns the parts of a record.
func Pack(r owner.Record) ([]string, error) {
	text, err := r.Format()
	if err != nil {
		return nil, err
	}
	var parts []string
	for part := range slices.Chunk([]byte(base64.RawURLEncoding.EncodeToString(Compress(text))), maxPart) {
		parts = append(parts, string(part))
	}
	if len(parts) > MaxParts {
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

// BeatName is the name of heartbeat n.
func BeatName(n uint64, parts []string) string {
	return fmt.Sprintf("%d.%d.%s", n, len(parts), parts[0])
}

// ExtraNames are the names of the further parts.
func ExtraNames(parts []string) []string {
	var names []string
	for i, part := range parts {
		if i > 0 {
			names = append(names, PartPrefix+strconv.Itoa(i)+"."+part)
		}
	}
	return names
}

// ParseBeat reads the name of a heartbeat.
func ParseBeat(name string) (n uint64, parts int, first string, ok bool) {
	fields := strings.Split(name, ".")
	if len(fields) != 3 {
		return 0, 0, "", false
	}
	n, err1 := strconv.ParseUint(fields[0], 10, 64)
	parts, err2 := strconv.Atoi(fields[1])
	return n, parts, fields[2], err1 == nil && err2 == nil && parts > 0 && parts <= MaxParts
}

// RecordIn reads the record from the names in an entry. If it has none, the text says why.
func RecordIn(names []string, id string) (*owner.Record, string) {
	beat, count := LatestBeat(names)
	if beat == "" {
		return nil, "it has no record"
	}
	_, _, first, _ := ParseBeat(beat)
	parts := make([]string, count)
	parts[0] = first
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, PartPrefix)
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

// LatestBeat returns the name of the newest heartbeat, "" for none, and how many
// parts its record has.
func LatestBeat(names []string) (latest string, parts int) {
	var newest uint64
	for _, name := range names {
		if n, count, _, ok := ParseBeat(name); ok && (latest == "" || n > newest) {
			latest, newest, parts = name, n, count
		}
	}
	return latest, parts
}
