package bench

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"locksmith/test/etcdserver"
	"locksmith/test/lab"
)

// etcd is ours at a server that etcdctl uses, too. For it locksmith becomes this program.
var (
	etcd = rival{name: "locksmith etcd:", scheme: "etcd:", slow: true,
		run:  words("{locksmith-remote} run etcd://{member}/{lock} --"),
		hold: words("{locksmith-remote} hold --lease 60 etcd://{member}/{lock}"),
	}
	etcdctlToo = client(tool("etcdctl lock", "etcdctl", words("etcdctl --endpoints {member} lock -- {lock}")))
	besideEtcd = []figure{
		{"spawn", (*bench).spawn, []rival{etcd, etcdctlToo}},
		{"commands", (*bench).commands, []rival{etcd, etcdctlToo}},
		{"latency", (*bench).latency, []rival{etcd, etcdctlToo}},
		{"requests", (*bench).requests, []rival{etcd, etcdctlToo}},
		{"memory", (*bench).memory, []rival{etcd, etcdctlToo}},
	}
)

// TestBesideEtcdctl is TestFigures for etcd:, beside etcdctl lock at the same member.
func TestBesideEtcdctl(t *testing.T) {
	lab.NotShort(t, "builds programs, and takes some seconds")
	b := newBench(t, besideEtcd, etcd)
	b.etcd = etcdserver.Start(t, etcdserver.Options{})
	b.paths = append(b.paths, "{member}", b.etcd.Host(0), "{locksmith-remote}", copied(t, lab.Program(t, "cmd/locksmith-remote")))
	b.among, b.crowds, b.helpers = ", beside etcdctl lock", []int{4, 8}, []int{10}
	b.tell(t, besideEtcd, besideEtcdctl)
}

// requests counts what the member is asked.
func (b *bench) requests(of []rival) {
	taken, handed := samples{}, samples{}
	asked := func() (n float64) {
		for _, of := range b.etcd.Requests(b.TB) {
			n += float64(of)
		}
		return n
	}
	for range b.rounds {
		for _, r := range b.present(of) {
			before := asked()
			b.once(b.fill(with(r.run, "true"), b.lock()))
			taken.add(r, asked()-before)
			before = asked()
			_, err := b.race(r, b.crowds[0], incrementing)
			all, failed := ledger(filepath.Join(b.dir, fmt.Sprintf("lock-%d-ledger", b.locks))).account()
			if err = errors.Join(err, failed); err != nil {
				b.Fatalf("%s: %v", r.name, err)
			}
			handed.add(r, (asked()-before)/float64(all.increments))
		}
	}
	b.medians("requests to take, run true, release", "%.1f", of, taken, goals{})
	b.medians(fmt.Sprintf("requests for each increment of %d processes", b.crowds[0]), "%.1f", of, handed, goals{})
}
