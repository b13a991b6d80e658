//go:build unix

package etcdserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"locksmith/test/lab"
)

// Current is the version that tests use unless they say otherwise, and Debian the one that is
// installed.
const (
	Current = "etcd-3.7.3"
	Debian  = "/usr/bin/etcd"
)

// Options say what a cluster is.
type Options struct {
	Nodes   int      // 0: one
	Program string   // "": Current
	Flags   []string // further ones, of each member
	Scheme  string   // "": http
	Dir     string   // where the data is; "": a directory of the test
}

// A Cluster is one member of etcd, or several.
type Cluster struct {
	t       testing.TB
	options Options
	program string
	dir     string
	nodes   []*node

	mu  sync.Mutex
	cut map[string]bool // members, by their ids

	once sync.Once
	all  *clientv3.Client
}

type node struct {
	client, peer int // ports
	relay        *relay
	id           string // in hex
	run          *lab.Process
}

// Program compiles etcd, and returns its path.
func Program(t testing.TB) string {
	t.Helper()
	return lab.ModuleProgram(t, "test/etcdserver/testdata/"+Current, "go.etcd.io/etcd/server/v3")
}

// Start starts a cluster that is empty, and returns when it answers. It runs until the test ends.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c := &Cluster{t: t, options: o, program: o.Program, dir: o.Dir, cut: map[string]bool{}}
	switch {
	case c.program == "":
		c.program = Program(t)
	default:
		c.program = lab.NeedProgram(t, c.program)
	}
	if c.dir == "" {
		c.dir = t.TempDir()
	}
	if c.options.Scheme == "" {
		c.options.Scheme = "http"
	}
	for range max(o.Nodes, 1) {
		n := &node{client: lab.ReservePort(t), peer: lab.ReservePort(t)}
		n.relay = startRelay(t, at(n.peer), func(from string) bool { return c.isCut(from, n) })
		c.nodes = append(c.nodes, n)
	}
	for i := range c.nodes {
		c.Restart(i)
	}
	if o.Scheme == "" {
		c.Await()
	}
	return c
}

func at(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Restart starts a member with the data that it has, and does not wait until it answers.
func (c *Cluster) Restart(i int) {
	c.t.Helper()
	n := c.nodes[i]
	var all []string
	for j, other := range c.nodes {
		all = append(all, fmt.Sprintf("n%d=%s", j, other.relay.url()))
	}
	log, err := os.OpenFile(c.log(i), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(c.program, append([]string{"--name", fmt.Sprintf("n%d", i), "--data-dir", filepath.Join(c.dir, fmt.Sprint(i)), "--log-level", "warn", "--logger", "zap",
		"--listen-client-urls", c.options.Scheme + "://" + at(n.client), "--advertise-client-urls", c.options.Scheme + "://" + at(n.client),
		"--listen-peer-urls", "http://" + at(n.peer), "--initial-advertise-peer-urls", n.relay.url(), "--initial-cluster", strings.Join(all, ",")}, c.options.Flags...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = diesWithUs()
	n.run = lab.Start(c.t, cmd)
}

func (c *Cluster) log(i int) string { return filepath.Join(c.dir, fmt.Sprintf("log%d", i)) }

// Await waits until the cluster answers, and knows its members.
func (c *Cluster) Await() {
	c.t.Helper()
	lab.Eventually(c.t, "etcd answers", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		client := c.Client()
		members, err := client.MemberList(ctx)
		if err != nil {
			return false
		}
		for _, m := range members.Members {
			for i, n := range c.nodes {
				if m.Name == fmt.Sprintf("n%d", i) {
					c.mu.Lock()
					n.id = fmt.Sprintf("%x", m.ID)
					c.mu.Unlock()
				}
			}
		}
		_, err = client.Get(ctx, "awaited")
		return err == nil
	}, c.Said)
}

// Said returns what the members have said so far.
func (c *Cluster) Said() string {
	var all strings.Builder
	for i := range c.nodes {
		text, _ := os.ReadFile(c.log(i))
		fmt.Fprintf(&all, "member %d:\n%.20000s\n", i, text)
	}
	return all.String()
}

// Nodes is how many members there are.
func (c *Cluster) Nodes() int { return len(c.nodes) }

// Hosts are the members, as an address names them, and Host is one of them.
func (c *Cluster) Hosts() string {
	var all []string
	for i := range c.nodes {
		all = append(all, c.Host(i))
	}
	return strings.Join(all, ",")
}

// Host is a member, as an address names it.
func (c *Cluster) Host(i int) string { return at(c.nodes[i].client) }

// Address returns the address of a lock.
func (c *Cluster) Address(prefix string) string { return "etcd://" + c.Hosts() + "/" + prefix }

// Kill kills a member with -9. Stop stops it, and Cont has it go on.
func (c *Cluster) Kill(i int) { c.nodes[i].run.Kill() }
func (c *Cluster) Stop(i int) { _ = syscall.Kill(c.nodes[i].run.PID(), syscall.SIGSTOP) }
func (c *Cluster) Cont(i int) { _ = syscall.Kill(c.nodes[i].run.PID(), syscall.SIGCONT) }

// Cut cuts a member off from the others, but not from clients. Join ends that.
func (c *Cluster) Cut(i int) { c.setCut(i, true) }

// Join ends what Cut began.
func (c *Cluster) Join(i int) { c.setCut(i, false) }

func (c *Cluster) setCut(i int, cut bool) {
	c.mu.Lock()
	id := c.nodes[i].id
	c.cut[id] = cut
	c.mu.Unlock()
	for j, n := range c.nodes {
		n.relay.sever(func(from string) bool { return cut && (j == i || from == id) })
	}
}

func (c *Cluster) isCut(from string, to *node) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut[from] || c.cut[to.id]
}

// Client returns a client of all members, always the same one.
func (c *Cluster) Client() *clientv3.Client {
	c.t.Helper()
	c.once.Do(func() {
		c.all = c.client(strings.Split(c.Hosts(), ","))
		c.t.Cleanup(func() { _ = c.all.Close() })
	})
	return c.all
}

func (c *Cluster) client(hosts []string) *clientv3.Client {
	c.t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: hosts, Logger: zap.NewNop(), DialTimeout: 2 * time.Second})
	if err != nil {
		c.t.Fatal(err)
	}
	return client
}

// Leader returns which member leads, or -1.
func (c *Cluster) Leader() int {
	c.t.Helper()
	for i := range c.nodes {
		if leader, itself := c.leader(i); leader != 0 && leader == itself {
			return i
		}
	}
	return -1
}

// KnowsLeader reports whether a member answers, and knows a leader.
func (c *Cluster) KnowsLeader(i int) bool {
	c.t.Helper()
	leader, _ := c.leader(i)
	return leader != 0
}

// leader asks a member for the leader's id, and its own.
func (c *Cluster) leader(i int) (leader, itself uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	client := c.client([]string{c.Host(i)})
	defer client.Close()
	status, err := client.Status(ctx, c.Host(i))
	if err != nil {
		return 0, 0
	}
	return status.Leader, status.Header.MemberId
}

// Keys returns all keys below a prefix that ends in a slash, without that prefix.
func (c *Cluster) Keys(t testing.TB, prefix string) (keys []string) {
	t.Helper()
	r, err := c.Client().Get(context.Background(), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range r.Kvs {
		keys = append(keys, strings.TrimPrefix(string(kv.Key), prefix))
	}
	return keys
}

// Put writes a key, and Remove removes one.
func (c *Cluster) Put(t testing.TB, key, value string) {
	t.Helper()
	if _, err := c.Client().Put(context.Background(), key, value); err != nil {
		t.Fatal(err)
	}
}

// Remove removes a key.
func (c *Cluster) Remove(t testing.TB, key string) {
	t.Helper()
	if _, err := c.Client().Delete(context.Background(), key); err != nil {
		t.Fatal(err)
	}
}

// Runs reports whether a member has not ended.
func (c *Cluster) Runs(i int) bool {
	select {
	case <-c.nodes[i].run.Ended():
		return false
	default:
		return true
	}
}

// Holder returns the id of the first in the line of a lock whose keys are below a prefix.
func (c *Cluster) Holder(prefix string) string {
	c.t.Helper()
	r, err := c.Client().Get(context.Background(), prefix, clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, kv := range r.Kvs {
		if mode, id, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), prefix), "."); mode == "x" || mode == "s" {
			return id
		}
	}
	return ""
}

// Requests is how many requests the first member has had so far, by their methods.
func (c *Cluster) Requests(t testing.TB) map[string]int {
	t.Helper()
	answer, err := http.Get("http://" + c.Host(0) + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, `grpc_server_started_total{grpc_method="`); ok {
			method, _, _ := strings.Cut(rest, `"`)
			n := 0
			_, _ = fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &n)
			all[method] += n
		}
	}
	if len(all) == 0 {
		t.Fatal("the server does not count requests")
	}
	return all
}
