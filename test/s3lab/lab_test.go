//go:build unix

package s3lab

import (
	"flag"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/s3server"
)

var (
	chosenStores    = flag.String("stores", "", "run only at the stores that match this `regexp`")
	chosenScenarios = flag.String("scenarios", "", "run only the scenarios that match this `regexp`")
	long            = flag.Bool("long", false, "leave nothing out that takes long")
)

func TestMain(m *testing.M) {
	s3server.SetEnvironment()
	lab.Parallel(6) // most of them wait
	lab.Main(m, nil)
}

// A store is one server, or two gateways to one directory with a balancer before them.
type store struct {
	servers  []*s3server.Server
	endpoint string
}

const (
	fit = "versitygw-1.8.0"
	two = "two of versitygw-1.8.0"
)

// open starts a store.
func open(t *testing.T, name string) *store {
	t.Helper()
	lab.NotShort(t, "starts object stores")
	if name != two {
		s := s3server.Start(t, name)
		return &store{[]*s3server.Server{s}, s.Endpoint}
	}
	first := s3server.Start(t, fit)
	s := &store{servers: []*s3server.Server{first, first.Beside()}}
	s.endpoint = s.behind(t).Endpoint
	return s
}

// behind puts a proxy before all servers.
func (s *store) behind(t *testing.T) *s3server.Proxy {
	t.Helper()
	var endpoints []string
	for _, one := range s.servers {
		endpoints = append(endpoints, one.Endpoint)
	}
	return s3server.StartProxy(t, endpoints...)
}

// openPlace starts a store for one lock.
func openPlace(t *testing.T, name string) place {
	t.Helper()
	s := open(t, name)
	return place{s, s.endpoint, "locks/l"}
}

// locksmith is a command.
func locksmith(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	lab.Program(t, "cmd/locksmith-remote") // which the other one becomes is beside it
	return exec.Command(lab.Program(t, "cmd/locksmith"), args...)
}

// A scenario runs at stores.
type scenario struct {
	name   string
	stores []string
	quick  []string // the stores at which it runs also without -long
	run    func(t *testing.T, name string)
}

var scenarios = []scenario{
	{"fit", []string{fit, two, s3server.Embedded, "moto"}, []string{two}, fitForLocks},
	{"unfit", []string{"versitygw-1.2.0", "versitygw-1.0.14", "rclone", "s3rver", s3server.Careless, s3server.Racing}, []string{s3server.Careless, s3server.Racing}, unfitForLocks},
	{"outages", []string{fit, two}, []string{two}, outages},
	{"contenders", []string{fit, two, s3server.Embedded, "moto"}, []string{two}, contenders},
	{"restarts", []string{fit, two}, []string{two}, restarts},
	{"lost answers", []string{fit, two, s3server.Embedded}, []string{fit}, loseAnswers},
	{"trouble", []string{fit, two, s3server.Embedded}, []string{two, s3server.Embedded}, trouble},
	{"requests", []string{fit, s3server.Embedded}, []string{fit}, requests},
	{"hand-offs", []string{fit, s3server.Embedded}, nil, handOffs},
	{"conformance", []string{fit, two, s3server.Embedded, "moto"}, nil, conformance},
}

// TestLab runs every scenario at its stores.
func TestLab(t *testing.T) {
	lab.NotShort(t, "starts object stores")
	ran := 0
	for _, s := range scenarios {
		for _, name := range s.stores {
			if !matches(t, *chosenScenarios, s.name) || !matches(t, *chosenStores, name) || !*long && !slices.Contains(s.quick, name) {
				continue
			}
			ran++
			t.Run(s.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				s.run(t, name)
			})
		}
	}
	if ran == 0 {
		t.Fatal("no scenario at any store was chosen")
	}
}

func matches(t *testing.T, pattern, name string) bool {
	t.Helper()
	found, err := regexp.MatchString(pattern, name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
