//go:build linux

package promises

import (
	"flag"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/lab/kinds"
	"locksmith/test/s3server"
)

var (
	long   = flag.Bool("long", false, "ask what takes long, too, at servers as sites run them")
	update = flag.Bool("update", false, "write the table on the page anew")
)

func TestMain(m *testing.M) {
	lab.Parallel(24) // they wait most of the time
	s3server.SetEnvironment()
	lab.Main(m, nil)
}

// TestPromises asks every kind every question, and compares the page with what is expected of them.
func TestPromises(t *testing.T) {
	lab.NotShort(t, "it starts programs and servers")
	lab.NeedRoot(t)
	servers := kinds.Cheap
	if *long {
		servers = kinds.Real
	}
	all := kinds.All(t, servers(t))
	t.Run("cells", func(t *testing.T) {
		for _, q := range questions() {
			for _, k := range all {
				q.judge(t, k)
			}
		}
	})
	t.Run("page", func(t *testing.T) { publish(t, all) })
}
