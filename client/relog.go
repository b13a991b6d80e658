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

	"github.com/hashicorp/go-hclog"

	"locksmith/protocol"
)

// A relogger passes the helper's log lines in JSON on to a logger, and other lines as they are.
type relogger struct {
	to logSink

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
		r.to.log("warn", "helper says", "text", protocol.CleanText(text, protocol.MaxLine))
	default:
		r.log(entry)
	}
}

func (r *relogger) log(entry map[string]any) {
	level, _ := entry["@level"].(string)
	message, _ := entry["@message"].(string)
	var args []any
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if !strings.HasPrefix(key, "@") {
			args = append(args, key, entry[key])
		}
	}
	r.to.log(level, message, args...)
}

// A logSink is where the helper's log goes.
type logSink interface {
	// level is the lowest that is wanted, as hold --log-level spells it.
	level() string
	log(level, message string, args ...any)
}

type hcSink struct{ hclog.Logger }

func (s hcSink) level() string {
	if level := s.GetLevel(); level != hclog.NoLevel {
		return level.String()
	}
	return hclog.DefaultLevel.String()
}

func (s hcSink) log(level, message string, args ...any) {
	s.Log(hclog.LevelFromString(level), message, args...)
}

type slogSink struct{ *slog.Logger }

// slogLevels are the helper's levels, the lowest first.
var slogLevels = []struct {
	name  string
	level slog.Level
}{{"trace", slog.LevelDebug - 4}, {"debug", slog.LevelDebug}, {"info", slog.LevelInfo}, {"warn", slog.LevelWarn}, {"error", slog.LevelError}}

func (s slogSink) level() string {
	for _, l := range slogLevels {
		if s.Enabled(context.Background(), l.level) {
			return l.name
		}
	}
	return "off"
}

func (s slogSink) log(level, message string, args ...any) {
	at := slog.LevelWarn
	for _, l := range slogLevels {
		if l.name == level {
			at = l.level
		}
	}
	s.Log(context.Background(), at, message, args...)
}
