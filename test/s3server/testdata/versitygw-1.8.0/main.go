// Command versitygw-1.8.0 is versitygw with one backend and the options that we use, all else as it
// comes: its clients for administration, its own tests and other backends are 40 percent of what
// there is to compile.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	quiet := flag.Bool("quiet", false, "")
	port := flag.String("port", ":7070", "")
	flag.Parse()
	if flag.NArg() != 2 || flag.Arg(0) != "posix" {
		fmt.Fprintln(os.Stderr, "usage: versitygw [--quiet] [--port ADDRESS] posix DIR")
		os.Exit(1)
	}
	if err := serve(flag.Arg(1), *port, *quiet); err != nil {
		log.Fatal(err)
	}
}

// serve has the settings that the program of versitygw has unless it is told others.
func serve(dir, port string, quiet bool) error {
	if err := (meta.XattrMeta{}).Test(dir); err != nil {
		return err
	}
	options := posix.PosixOpts{Concurrency: 5000, IOBufferSize: 1 << 20, CopyObjectThreshold: 5 << 30}
	options.SetNewDirPerm(0o755)
	options.SetNewFilePerm(0o644)
	store, err := posix.New(dir, meta.XattrMeta{}, options)
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(context.Background(), store, &embedgw.Config{
		RootUserAccess: os.Getenv("ROOT_ACCESS_KEY"),
		RootUserSecret: os.Getenv("ROOT_SECRET_KEY"),
		IAMDir:         os.Getenv("VGW_IAM_DIR"),
		IAMCacheTTL:    120,
		IAMCachePrune:  3600,
		Ports:          []string{port},
		Quiet:          quiet,
		MaxConnections: 250_000, MaxRequests: 100_000,
		AdminMaxConnections: 250_000, AdminMaxRequests: 100_000,
		MultipartMaxParts: 10_000,
	})
}
