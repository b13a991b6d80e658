package show

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// some returns locks of all sorts.
func some() []Lock {
	job := owner.Record{User: "alice", Place: owner.Place{Host: "web3"}, Program: "sh", Mode: "exclusive", Lease: time.Minute, Meta: []protocol.Field{{Key: "job", Value: "night\nly"}}}
	many := NewLock("nfs:/srv/a/very/long/way/to/the/lock/of/billing\"", nil)
	many.Take(backend.Report{Holders: []backend.Holder{{Record: &job, PID: 7, Verdict: owner.Dead, Age: 26 * time.Hour, Heartbeat: 5 * time.Minute, Lease: time.Minute}, {PID: 1}}, Waiters: make([]backend.Holder, 3)})
	free := NewLock("local:/free", nil)
	free.Take(backend.Report{Success: &backend.Success{Ago: 12 * time.Minute, Host: "web3"}})
	failed := NewLock("ftp://h/x", nil)
	failed.Error = "no answer"
	return []Lock{many, free, failed}
}

// TestTable: lines fit the terminal, and show the end of a lock's name.
func TestTable(t *testing.T) {
	for _, width := range []int{60, 80, 200} {
		var out strings.Builder
		l := NewList(&out, "text", width)
		for _, s := range some() {
			l.Add(s, nil)
		}
		l.Add(Lock{}, errors.New("told on standard error"))
		lines := strings.Split(out.String(), "\n")
		if len(lines) != 7 || !strings.HasPrefix(lines[0], "LOCK ") || !strings.Contains(lines[1], `billing" dead `) && width < 200 ||
			!strings.Contains(lines[1], "+1") || !strings.HasSuffix(lines[1], " 1d2h exclusive       3") || !strings.Contains(lines[3], " free") || !strings.Contains(lines[5], " unknown") ||
			lines[2] != cut("  helper's pid 7, ! heartbeat 5m0s ago: lease of 1m0s over, job=night?ly", width) || lines[4] != "  last success 12m0s ago by web3" {
			t.Errorf("the table at width %d is wrong:\n%s", width, &out)
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > width {
				t.Errorf("a line of the table is longer than %d: %q", width, line)
			}
		}
	}
}

// TestTableObeysNobody: text that others put into a record does not move the terminal's cursor.
func TestTableObeysNobody(t *testing.T) {
	const bad = "\x1b[2J"
	hostile := owner.Record{User: bad, Place: owner.Place{Host: bad}, Program: bad, Mode: bad}
	l := NewLock("local:/"+bad, nil)
	l.Take(backend.Report{Holders: []backend.Holder{{Record: &hostile}}})
	var out strings.Builder
	NewList(&out, "text", 80).Add(l, nil)
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("the table lets a control character through: %q", &out)
	}
}

func TestMetrics(t *testing.T) {
	var out strings.Builder
	m := NewList(&out, "openmetrics", 80)
	strange := NewLock("local:/\x1b[2J", nil)
	strange.Take(backend.Report{})
	for _, s := range append([]Lock{strange}, some()...) {
		m.Add(s, nil)
	}
	m.Add(Lock{}, backend.Name("local:/d").LeftOut(&backend.LeftOutError{Left: backend.Quota{Known: 1, Foreign: 2}}))
	if err := m.End(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nlocksmith_list_left_out 3\n",
		"locksmith_lock_held{lock=\"nfs:/srv/a/very/long/way/to/the/lock/of/billing\\\"\"} 2\nlocksmith_lock_held{lock=\"local:/free\"} 0\n# HELP",
		"_held_seconds{lock=\"nfs:/srv/a/very/long/way/to/the/lock/of/billing\\\"\"} 93600\n# HELP", "_dead{lock=\"local:/free\"} 0\n",
		"_dead{lock=\"nfs:/srv/a/very/long/way/to/the/lock/of/billing\\\"\"} 1\n", "_heartbeat_seconds{lock=\"nfs:/srv/a/very/long/way/to/the/lock/of/billing\\\"\"} 300\n# HELP",
		"_lease_seconds{lock=\"nfs:/srv/a/very/long/way/to/the/lock/of/billing\\\"\"} 60\n# HELP", "verdict=\"dead\"} 1\n", "_last_success_seconds{lock=\"local:/free\"} 720\n# HELP", "billing\\\"\"} 3\n", `_held{lock="local:/\\u001b[2J"} 0` + "\n", "\nlocksmith_list_errors 1\n# EOF\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %s:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "ftp:") {
		t.Error("the table shows a state for a lock that could not be seen")
	}
}
