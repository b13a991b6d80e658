//go:build linux

package promises

import (
	"os"
	"regexp"
	"strconv"
	"strings"
)

// A metric is one sample.
type metric struct {
	name   string
	labels map[string]string
	value  float64
}

type metrics []metric

var sample = regexp.MustCompile(`^(\w+)(?:\{(.*)\})? (\S+)$`)
var label = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)

// metrics are those of the place, as a crontab writes them for Prometheus.
func (c *cell) metrics(places ...string) (all metrics) {
	c.Helper()
	s := c.do(append([]string{"list", "--format", "openmetrics", "--depth", "1", c.Place}, places...)...)
	for line := range strings.Lines(s.out) {
		m := sample.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			c.Fatalf("a metric cannot be read: %q", line)
		}
		one := metric{m[1], map[string]string{}, value}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			one.labels[l[1]] = l[2]
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		c.Fatalf("no metrics: %v", s)
	}
	return all
}

// value is that of the first metric of this name about a lock.
func (all metrics) value(name, lock string) (value float64, known bool) {
	for _, m := range all {
		if m.name == name && m.labels["lock"] == lock {
			return m.value, true
		}
	}
	return 0, false
}

var rule = regexp.MustCompile(`(?m)^  - alert: (\w+)\n    expr: (.*)$`)

// fires reports whether one of the guide's rules with this name fires for the lock, or for no lock; "":
// whether any does. What a rule lets pass for a while is not waited for.
func (all metrics) fires(c *cell, name string) bool {
	c.Helper()
	return all.firing(c, name) != ""
}

// firing is the name of the first rule that fires.
func (all metrics) firing(c *cell, name string) string {
	c.Helper()
	page, err := os.ReadFile(guide)
	if err != nil {
		c.Fatal(err)
	}
	rules := rule.FindAllStringSubmatch(string(page), -1)
	if len(rules) < 3 {
		c.Fatal("the guide has less than three rules")
	}
	for _, r := range rules {
		if name != "" && name != r[1] {
			continue
		}
		for term := range strings.SplitSeq(r[2], " or ") {
			if all.holds(c, term) {
				return r[1]
			}
		}
	}
	return ""
}

var term = regexp.MustCompile(`^(\w+)(?:\{(.*)\})? (>|==) (?:([0-9.]+)(?: \* (\w+))?|(\w+))$`)

// holds evaluates a comparison of a metric with a number, a metric, or a number of times a metric.
func (all metrics) holds(c *cell, text string) bool {
	c.Helper()
	t := term.FindStringSubmatch(text)
	if t == nil {
		c.Fatalf("a rule of the guide is no comparison that this test knows: %q", text)
	}
	for _, m := range all {
		lock := m.labels["lock"]
		if m.name != t[1] || lock != "" && lock != c.Address || !m.matches(t[2]) {
			continue
		}
		limit := 1.0
		if t[4] != "" {
			limit, _ = strconv.ParseFloat(t[4], 64) // the pattern is that of a number
		}
		if other := t[5] + t[6]; other != "" {
			value, known := all.value(other, lock)
			if !known {
				continue
			}
			limit *= value
		}
		if t[3] == ">" && m.value > limit || t[3] == "==" && m.value == limit {
			return true
		}
	}
	return false
}

// matches reports whether a metric has the labels of a selector.
func (m metric) matches(selector string) bool {
	for _, s := range regexp.MustCompile(`(\w+)(=~|=)"([^"]*)"`).FindAllStringSubmatch(selector, -1) {
		if s[2] == "=" && m.labels[s[1]] != s[3] || s[2] == "=~" && !regexp.MustCompile("^(?:"+s[3]+")$").MatchString(m.labels[s[1]]) {
			return false
		}
	}
	return true
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
