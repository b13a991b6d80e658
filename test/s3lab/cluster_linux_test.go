package s3lab

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/clock"
	"locksmith/protocol"
	"locksmith/test/lab"
	"locksmith/test/lab/contest"
	"locksmith/test/lab/holds"
	"locksmith/test/s3server"
)

var (
	updatePage   = flag.Bool("update", false, "write to the page what a cluster does while its nodes are away")
	clusterHolds = flag.Int("holds", 500, "how many holds there shall be at a cluster")
)

// inCluster is set in the copy of the test that has namespaces of its own.
const inCluster = "LOCKSMITH_TEST_CLUSTER"

// TestCluster: eight contenders at a time take a lock in a store of four nodes, each by way of a
// random node, while the nodes are killed, stopped and cut off by turns. No two contenders have
// the lock together, tokens rise, and nobody is stuck.
func TestCluster(t *testing.T) {
	if !*long {
		t.Skip("compiles MinIO, and takes minutes: only with -long")
	}
	lab.NeedRoot(t)
	if os.Getenv(inCluster) != "" {
		cluster(t)
		return
	}
	s3server.Program(t, "minio") // compiled here, where there is a network
	cmd := exec.Command("/proc/self/exe", append(os.Args[1:len(os.Args):len(os.Args)], "-test.run=^TestCluster$", "-test.v")...)
	cmd.Env = append(os.Environ(), inCluster+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	said, err := cmd.CombinedOutput()
	t.Logf("in namespaces of its own the test said:\n%s", said)
	if err != nil {
		t.Error(err)
	}
}

// An absence is a way in which a node is away for some time.
type absence struct {
	name        string
	begin, end  func(c *s3server.Cluster, n int)
	began, over []time.Duration // since boot
}

// away is how long a node stays away: longer than a helper waits for the answer to a request, and
// shorter than the lease.
const away = 8 * time.Second

func cluster(t *testing.T) {
	c := s3server.StartCluster(t)
	ways := []absence{
		{name: "killed with -9", begin: (*s3server.Cluster).Kill, end: (*s3server.Cluster).Start},
		{name: "stopped", begin: (*s3server.Cluster).Pause, end: (*s3server.Cluster).Resume},
		{name: "cut off", begin: (*s3server.Cluster).Cut, end: (*s3server.Cluster).Join},
	}
	p := place{&store{servers: []*s3server.Server{{Endpoint: c.Endpoint(0)}}}, c.Endpoint(0), "locks/l"}
	trial := &contest.Contest{
		Log: contest.NewLog(t), Rounds: int32(*clusterHolds), Excused: append(slices.Clone(unreached), protocol.Timeout.Exit()),
		Command: func(flags []string, command ...string) *exec.Cmd {
			lock := s3server.Address(c.Endpoint(rand.IntN(s3server.Nodes)), p.prefix)
			return locksmith(t, slices.Concat([]string{"run", "--timeout", "1m"}, flags, []string{lock, "--"}, command)...)
		},
	}
	begin := time.Now()
	over := trial.Start(t, 8)
	for n := 0; trial.More(t, over, 5); n++ {
		way, node := &ways[n%len(ways)], n%s3server.Nodes
		way.began = append(way.began, clock.Boot{}.Now())
		way.begin(c, node)
		time.Sleep(away)
		way.end(c, node)
		way.over = append(way.over, clock.Boot{}.Now())
		c.Await(node)
	}
	took := time.Since(begin)
	record := trial.Log.Check(t, true)
	if len(record.Kills) == 0 || holds.Together(record.Held) > 0 {
		t.Error("nobody was killed, or some had it together")
	}
	left := p.keys(t)
	slices.Sort(left)
	t.Logf("%d holders, %d kills, left: %q", len(record.Held), len(record.Kills), left)
	var table strings.Builder
	for _, way := range ways {
		var longest time.Duration
		for i := range way.began {
			longest = max(longest, silence(record, way.began[i], way.over[i]))
		}
		fmt.Fprintf(&table, "| %s | %d | %.1f s |\n", way.name, len(way.began), longest.Seconds())
	}
	if t.Failed() {
		return
	}
	lab.Publish(t, "README.md", "A node away", fmt.Sprintf(clusterText, time.Now().Format("2 January 2006"), *clusterHolds, s3server.Nodes, away, took.Round(time.Second), len(record.Held), len(record.Kills), len(left))+table.String(), *updatePage)
}

// silence returns the longest time in which nobody began to hold the lock, among those that began
// during an absence.
func silence(record contest.Record, began, over time.Duration) (longest time.Duration) {
	last := began
	for _, h := range record.Held {
		if h.Start < began {
			continue
		}
		longest = max(longest, h.Start-last)
		if last = h.Start; last > over {
			break
		}
	}
	return longest
}

const clusterText = "Written on %s by `go test ./test/s3lab -run TestCluster -long -update -holds %d -timeout 1h`: MinIO of\n" +
	"12 February 2026 on %d nodes with a drive each, in network namespaces joined by a bridge, on one machine. By turns one node is\n" +
	"killed, stopped or cut off for %v, and then serves again. In %v eight contenders, who ask nodes at random, had the lock %d times,\n" +
	"and %d were killed with -9. No two had it, tokens rose, and it went on each time. Some of those who asked the\n" +
	"node that was away gave up: with 69, with 75 after a minute, or with 79 because they could not release in time. %d objects of\n" +
	"the lock were left when it ended. The machine was busy with other things, too.\n\n" +
	"| a node | times | nobody began to hold the lock for at most |\n| --- | --- | --- |\n"
