package process

import (
	"iter"
	"os"
	"sync"
)

// Readings reads a file of /proc in which the kernel lists things of many processes, such as
// /proc/locks, until what none of the readings shows is not there. One reading does not tell that:
// the kernel hands out a page at a time, and goes on by position. If something that it has shown goes
// meanwhile, what follows moves up, and what was next is left out, though it is there all the while.
//
// So there is another reading until one is the same as that before it, which shows that nothing
// moved, or until there are as many as mostReadings, or an error. Whoever found what it looks for
// looks at no more. Each reading is made once, however often the readings are looked through.
func Readings(path string) iter.Seq2[string, error] {
	var all [mostReadings]func() (string, error)
	for i := range all {
		all[i] = sync.OnceValues(func() (string, error) {
			text, err := os.ReadFile(path)
			return string(text), err
		})
	}
	return func(yield func(string, error) bool) {
		before := ""
		for i, read := range all {
			text, err := read()
			if !yield(text, err) || err != nil || i > 0 && text == before {
				return
			}
			before = text
		}
	}
}

// mostReadings is how often a file is read that changes all the while. Beside two processes that did
// nothing but lock and unlock 200 files each, one reading of a hundred missed a lock.
const mostReadings = 6
