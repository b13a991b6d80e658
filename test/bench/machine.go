package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// machine says where and when figures are measured, and how busy the machine is before.
func machine() string {
	model := "processors"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
				model = "× " + strings.TrimSpace(value)
			}
		}
	}
	return fmt.Sprintf("%s, %d %s, Linux %s, load average before %s", time.Now().Format("2 January 2006"),
		runtime.NumCPU(), model, firstWord("/proc/sys/kernel/osrelease"), firstWord("/proc/loadavg"))
}

// A usage is what processors did since the system started, in ticks.
type usage struct{ worked, stolen float64 }

// processors reads the first line of proc_stat(5).
func processors() (u usage) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	var user, nice, system, idle, wait, irq, softirq float64
	_, _ = fmt.Sscanf(line, "cpu %g %g %g %g %g %g %g %g", &user, &nice, &system, &idle, &wait, &irq, &softirq, &u.stolen)
	u.worked = user + nice + system + irq + softirq
	return u
}

// stolenSince is the share of the time that processors should have worked since then, but
// in which the host of a virtual machine let others work.
func (u usage) stolenSince() string {
	now := processors()
	stolen := now.stolen - u.stolen
	return fmt.Sprintf("%.0f %%", 100*stolen/max(now.worked-u.worked+stolen, 1))
}

func firstWord(path string) string {
	text, _ := os.ReadFile(path)
	word, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return word
}
