package s3server

import (
	"fmt"
	"os/exec"
	"strconv"
	"testing"

	"locksmith/test/lab"
)

// Embedded is the kind that runs in the test's own process.
const Embedded = "gofakes3"

// The embedded store with one flaw.
const (
	Careless = "gofakes3, ignores the condition"
	Racing   = "gofakes3, lets several win a race"
)

// A kind is a program that serves a store.
type kind struct {
	module    string // the package of the program, if a module below testdata has it
	command   string // else the program's name where it is installed
	arguments func(port int, dir string) []string
	// makesBucket: the bucket is made by a request, as the store does not take a directory for one.
	makesBucket bool
}

var kinds = map[string]kind{
	"versitygw-1.8.0":  {module: ".", arguments: posix},
	"versitygw-1.2.0":  {module: versitygw, arguments: posix},
	"versitygw-1.0.14": {module: versitygw, arguments: posix},
	"rclone": {module: ".", arguments: func(port int, dir string) []string {
		return []string{"serve", "s3", "--config", "", "--addr", at(port), "--auth-key", access + "," + secret, dir}
	}},
	"minio": {module: "github.com/minio/minio"}, // only as a Cluster
	"moto": {command: "moto_server", makesBucket: true, arguments: func(port int, _ string) []string {
		return []string{"-H", "127.0.0.1", "-p", strconv.Itoa(port)}
	}},
	"s3rver": {command: "s3rver", arguments: func(port int, dir string) []string {
		return []string{"--directory", dir, "--address", "127.0.0.1", "--port", strconv.Itoa(port)}
	}},
}

// versitygw is the package of the program in the module of that name.
const versitygw = "github.com/versity/versitygw/cmd/versitygw"

func posix(port int, dir string) []string {
	return []string{"--quiet", "--port", at(port), "posix", dir}
}

func at(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// program returns where the program of a kind is, which this machine may lack.
func (k kind) program(t testing.TB, name string) string {
	t.Helper()
	if k.module != "" {
		return Program(t, name)
	}
	program, err := exec.LookPath(k.command)
	if err != nil {
		t.Skip(k.command + " is not installed")
	}
	return program
}

// Program compiles the program of a kind that has a module here, and returns its path.
func Program(t testing.TB, name string) string {
	t.Helper()
	return lab.ModuleProgram(t, "test/s3server/testdata/"+name, kinds[name].module)
}
