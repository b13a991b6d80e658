package clock

import (
	"time"

	"golang.org/x/sys/windows"
)

// sinceBoot includes sleep and hibernation (GetTickCount64). It goes in steps of 10 to 16 ms.
func sinceBoot() time.Duration { return windows.DurationSinceBoot() }
