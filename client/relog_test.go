package client

import (
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// TestRelog: every line is logged once and in order, in whatever chunks it arrives.
func TestRelog(t *testing.T) {
	const said = `{"@level":"info","@message":"one","lock":"x"}
panic: not JSON
{"@level":"warn","@message":"two"} and more

{"@level":"warn","@message":"three"}
the last words`
	want := []string{"level=INFO msg=one lock=x", `level=WARN msg="helper says" text="panic: not JSON"`,
		`level=WARN msg="helper says" text="{"@level":"warn","@message":"two"} and more"`, "level=WARN msg=three", `level=WARN msg="helper says" text="the last words"`}
	for size := 1; size <= len(said); size++ {
		var out strings.Builder
		r := &relogger{to: logTo(&out)}
		for chunk := range slices.Chunk([]byte(said), size) {
			if n, err := r.Write(chunk); n != len(chunk) || err != nil {
				t.Fatal(n, err)
			}
		}
		r.finish()
		if got := strings.Split(strings.TrimSpace(strings.ReplaceAll(out.String(), `\"`, `"`)), "\n"); !slices.Equal(got, want) {
			t.Errorf("written in chunks of %d bytes, the lines are logged as %q", size, got)
			return
		}
	}
}

// logTo logs everything but the time.
func logTo(out io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

// TestRelogEndless: a line without an end is logged in parts, not kept.
func TestRelogEndless(t *testing.T) {
	var out strings.Builder
	r := &relogger{to: logTo(&out)}
	if n, err := io.Copy(r, strings.NewReader(strings.Repeat("x", 1<<20))); n != 1<<20 || err != nil {
		t.Fatal(n, err)
	}
	if out.Len() == 0 || len(r.part) > maxLogLine {
		t.Errorf("of a line without an end %d bytes are logged, and %d kept", out.Len(), len(r.part))
	}
}
