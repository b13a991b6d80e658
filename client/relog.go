package client

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"locksmith/protocol"
)

// A relogger passes the helper's log lines in JSON on to a logger, and other lines as they are.
type relogger struct {
	to *slog.Logger

	mu   sync.Mutex // a process that outlives the helper may write during finish
	part []byte     // of a line whose end has not come yet
}

// maxLogLine bounds what is kept of a line without an end, in bytes.
const maxLogLine = 64 << 10

func (r *relogger) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.part = append(r.part, p...)
	for {
		line, rest, ended := bytes.Cut(r.part, []byte{'\n'})
		if !ended {
			break
		}
		r.relog(line)
		r.part = rest
	}
	if len(r.part) > maxLogLine {
		r.flush()
	}
	return len(p), nil
}

// finish logs a last line that has no end.
func (r *relogger) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush()
}

func (r *relogger) flush() {
	r.relog(r.part)
	r.part = nil
}

func (r *relogger) relog(line []byte) {
	var entry map[string]any
	text := strings.TrimSpace(string(line))
	switch {
	case text == "":
	case json.Unmarshal(line, &entry) != nil:
		r.to.Warn("helper says", "text", protocol.CleanText(text, protocol.MaxLine))
	default:
		r.log(entry)
	}
}

func (r *relogger) log(entry map[string]any) {
	name, _ := entry["@level"].(string)
	level := slog.LevelWarn
	for _, l := range slogLevels {
		if l.name == name {
			level = l.level
		}
	}
	message, _ := entry["@message"].(string)
	var args []any
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if !strings.HasPrefix(key, "@") {
			args = append(args, key, entry[key])
		}
	}
	r.to.Log(context.Background(), level, message, args...)
}

// slogLevels are the helper's levels, the lowest first.
var slogLevels = []struct {
	name  string
	level slog.Level
}{{"trace", slog.LevelDebug - 4}, {"debug", slog.LevelDebug}, {"info", slog.LevelInfo}, {"warn", slog.LevelWarn}, {"error", slog.LevelError}}

// lowest is the lowest level that a logger wants, as hold --log-level spells it.
func lowest(to *slog.Logger) string {
	for _, l := range slogLevels {
		if to.Enabled(context.Background(), l.level) {
			return l.name
		}
	}
	return "off"
}
