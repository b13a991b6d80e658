package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// machine says where and when figures were measured, and how busy the machine was
// just before.
func machine() string {
	model := "processors"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
				model = "× " + strings.TrimSpace(value)
			}
		}
	}
	return fmt.Sprintf("%s, %d %s, Linux %s, load average before %s:", time.Now().Format("2 January 2006"),
		runtime.NumCPU(), model, firstWord("/proc/sys/kernel/osrelease"), firstWord("/proc/loadavg"))
}

func firstWord(path string) string {
	text, _ := os.ReadFile(path)
	word, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return word
}
