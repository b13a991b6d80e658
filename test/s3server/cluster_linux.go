package s3server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"locksmith/test/lab"
)

// Nodes is how many nodes a cluster has. The cluster goes on serving while one of them is away.
const Nodes = 4

// A Cluster is MinIO on several nodes with a drive each, which serve one store. Each node has a
// network namespace of its own, and a link to a bridge in that of the test.
type Cluster struct {
	t       testing.TB
	program string
	dir     string
	nodes   [Nodes]*lab.Process
}

// StartCluster starts a cluster with an empty bucket, in this process's namespaces of networks
// and mounts. The process must have these for itself: their /run, bridge and drives go away with
// it.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	lab.NeedProgram(t, "ip")
	c := &Cluster{t: t, program: Program(t, "minio"), dir: t.TempDir()}
	t.Cleanup(func() { c.do("umount --lazy $DIR/[0-9]") }) // after the nodes have ended
	c.do("mount --make-rprivate / && mount -t tmpfs none /run && mkdir /run/netns")
	c.do("ip link set lo up && ip link add br0 type bridge && ip addr add 10.77.0.254/24 dev br0 && ip link set br0 up")
	for n := range Nodes {
		c.do(fmt.Sprintf(`mkdir $DIR/%[1]d && mount -t tmpfs none $DIR/%[1]d && ip netns add n%[1]d
			ip link add v%[1]d type veth peer name eth0 netns n%[1]d && ip link set v%[1]d master br0 up
			ip -n n%[1]d addr add %[2]s/24 dev eth0 && ip -n n%[1]d link set eth0 up && ip -n n%[1]d link set lo up`, n, host(n)))
	}
	for n := range Nodes {
		c.Start(n)
	}
	lab.Eventually(t, "the cluster can be written to", func() bool { return healthy(c.Endpoint(0) + "/minio/health/cluster") }, c.Said)
	bucket := Server{Endpoint: c.Endpoint(0)}
	lab.Eventually(t, "a bucket is made", func() bool {
		_, err := bucket.client().CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: aws.String(Bucket)})
		return err == nil
	}, c.Said)
	return c
}

func host(n int) string { return fmt.Sprintf("10.77.0.%d", n+1) }

// Endpoint returns a node's endpoint.
func (c *Cluster) Endpoint(n int) string { return "http://" + host(n) + ":9000" }

// do runs a shell command.
func (c *Cluster) do(command string) {
	c.t.Helper()
	cmd := exec.Command("sh", "-ec", command)
	cmd.Env = append(os.Environ(), "DIR="+c.dir)
	if said, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s", command, err, said)
	}
}

// Start starts a node.
func (c *Cluster) Start(n int) {
	c.t.Helper()
	log, err := os.OpenFile(c.log(n), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command("ip", "netns", "exec", fmt.Sprintf("n%d", n), c.program, "server", "--address", ":9000")
	for other := range Nodes {
		cmd.Args = append(cmd.Args, fmt.Sprintf("http://%s:9000%s/%d/drive", host(other), c.dir, other))
	}
	cmd.Env = append(Foreign(), "MINIO_ROOT_USER="+access, "MINIO_ROOT_PASSWORD="+secret, "MINIO_BROWSER=off", "MINIO_UPDATE=off", "HOME="+c.dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = diesWithUs()
	c.nodes[n] = lab.Start(c.t, cmd)
}

// Kill kills a node with -9.
func (c *Cluster) Kill(n int) { c.nodes[n].Kill() }

// Pause stops a node with SIGSTOP, and Resume has it go on.
func (c *Cluster) Pause(n int)  { c.nodes[n].Stop() }
func (c *Cluster) Resume(n int) { c.nodes[n].Cont() }

// Cut cuts a node off from the test and all other nodes; Join ends that.
func (c *Cluster) Cut(n int)  { c.do(fmt.Sprintf("ip link set v%d down", n)) }
func (c *Cluster) Join(n int) { c.do(fmt.Sprintf("ip link set v%d up", n)) }

// Await waits until a node serves again.
func (c *Cluster) Await(n int) {
	c.t.Helper()
	lab.Eventually(c.t, "the node serves again", func() bool { return healthy(c.Endpoint(n) + "/minio/health/cluster") }, c.Said)
}

func healthy(url string) bool {
	client := http.Client{Timeout: 2 * time.Second}
	answer, err := client.Get(url)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

func (c *Cluster) log(n int) string { return filepath.Join(c.dir, fmt.Sprintf("log%d", n)) }

// Said returns what the nodes have said so far.
func (c *Cluster) Said() string {
	var all strings.Builder
	for n := range Nodes {
		text, _ := os.ReadFile(c.log(n))
		fmt.Fprintf(&all, "node %d:\n%s\n", n, text)
	}
	return all.String()
}
