//go:build linux

package promises

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"locksmith/test/lab"
)

// A metric is one sample.
type metric struct {
	name   string
	labels map[string]string
	value  float64
}

type metrics []metric

// path is the lock's address without options.
func (c *cell) path() string {
	path, _, _ := strings.Cut(c.Address, "?")
	return path
}

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
		if path, _, _ := strings.Cut(one.labels["lock"], "?"); path != "" && path == c.path() { // its options may be told otherwise
			one.labels["lock"] = c.Address
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

// rulesOf are the guide's alert rules, as Prometheus reads them.
func (c *cell) rulesOf() (text string, names []string) {
	c.Helper()
	_, rest, _ := strings.Cut(lab.BlockOfGuide(c, "groups:\n"), "\n")
	for _, m := range regexp.MustCompile(`(?m)^  - alert: (\w+)$`).FindAllStringSubmatch(rest, -1) {
		names = append(names, m[1])
	}
	if len(names) < 3 {
		c.Fatal("the guide has less than three rules")
	}
	return "groups:\n" + rest, names
}

// fires reports whether the guide's rule of this name fires for the lock, or for no lock.
func (all metrics) fires(c *cell, name string) bool {
	c.Helper()
	return slices.Contains(all.firing(c), name)
}

// firing are the names of the guide's rules that fire if the metrics stay for half an hour what they
// are. promtool says so, which has Prometheus' engine: it fails for each rule of which we claim that it
// does not fire, and does.
func (all metrics) firing(c *cell) (names []string) {
	c.Helper()
	lab.NeedProgram(c, "promtool")
	rules, alerts := c.rulesOf()
	dir := c.TempDir()
	c.must(os.WriteFile(filepath.Join(dir, "rules.yml"), []byte(rules), 0o644))
	var b strings.Builder
	fmt.Fprintln(&b, "rule_files: [rules.yml]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:")
	for _, m := range all {
		if lock := m.labels["lock"]; lock == "" || lock == c.Address {
			fmt.Fprintf(&b, "  - {series: '%s', values: '%s+0x30'}\n", strings.ReplaceAll(m.series(), "'", "''"), number(m.value))
		}
	}
	fmt.Fprintln(&b, "  alert_rule_test:")
	for _, name := range alerts {
		fmt.Fprintf(&b, "  - {eval_time: 30m, alertname: %s}\n", name)
	}
	test := filepath.Join(dir, "test.yml")
	c.must(os.WriteFile(test, []byte(b.String()), 0o644))
	s := c.finish(exec.Command("promtool", "test", "rules", test))
	for _, m := range regexp.MustCompile(`alertname: ?(\w+), time: 30m`).FindAllStringSubmatch(s.out+s.err, -1) {
		names = append(names, m[1])
	}
	if (s.status != 0) != (len(names) > 0) {
		c.Fatalf("promtool: %v\n%s", s, &b)
	}
	return names
}

// series is the metric with its labels, as promtool reads it.
func (m metric) series() string {
	var labels []string
	for name, value := range m.labels {
		labels = append(labels, name+`="`+value+`"`)
	}
	return m.name + "{" + strings.Join(labels, ",") + "}"
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
