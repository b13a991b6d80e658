package ftplab

import (
	"flag"
	"os"
	"regexp"
	"testing"
)

var (
	chosenServers   = flag.String("servers", "", "run only at the servers that match this `regexp`")
	chosenScenarios = flag.String("scenarios", "", "run only the scenarios that match this `regexp`")
	long            = flag.Bool("long", false, "leave nothing out that takes long")
)

// zone is where the servers are: 5 h 45 min from Greenwich. Programs of ours are
// started elsewhere.
const zone = "TZ=LAB-5:45"

// TestMain lets more tests run at a time than there are processors: most of them
// wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err) // the testing package has changed
	}
	if err := os.Setenv(cutZone()); err != nil {
		panic(err)
	}
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// matches reports whether a name was chosen.
func matches(t *testing.T, pattern, name string) bool {
	t.Helper()
	r, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return r.MatchString(name)
}
