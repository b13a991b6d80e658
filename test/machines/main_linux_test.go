package machines

import (
	"flag"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/s3server"
)

var (
	long   = flag.Bool("long", false, "refuse each system call alone, too, and run on all processors")
	update = flag.Bool("update", false, "write what was measured to the page")
)

const page = "README.md"

func TestMain(m *testing.M) {
	lab.Parallel(16) // they wait most of the time
	s3server.SetEnvironment()
	lab.Main(m, map[string]func() int{roleRefusing: refusing})
}
