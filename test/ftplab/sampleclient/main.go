// Command sampleclient is a job as users have it: one program brings a file to an
// FTP server, slowly, and others fetch it.
//
//	sampleclient put|get SERVER USER PASSWORD PATH
//
// get fails if the file is not there, or not whole: its last line tells what the
// lines before it come to.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jlaffaye/ftp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sampleclient:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 5 {
		return errors.New("usage: sampleclient put|get SERVER USER PASSWORD PATH")
	}
	c, err := ftp.Dial(args[1], ftp.DialWithTimeout(30*time.Second))
	if err != nil {
		return err
	}
	if err := c.Login(args[2], args[3]); err != nil {
		return err
	}
	job := get
	if args[0] == "put" {
		job = put
	}
	return errors.Join(job(c, args[4]), c.Quit())
}

// put writes half of it under another name, and after a while the rest, then
// renames it.
func put(c *ftp.ServerConn, path string) error {
	text := written()
	half := len(text) / 2
	slow := io.MultiReader(bytes.NewReader(text[:half]), pause{}, bytes.NewReader(text[half:]))
	if err := c.Stor(path+".new", slow); err != nil {
		return err
	}
	return c.Rename(path+".new", path)
}

// A pause has nothing to read, and takes its time for it.
type pause struct{}

func (pause) Read([]byte) (int, error) {
	time.Sleep(100 * time.Millisecond)
	return 0, io.EOF
}

// written is a list of numbers that differs each time, and its checksum.
func written() []byte {
	var b bytes.Buffer
	for i := range 500 {
		fmt.Fprintf(&b, "+49 30 %06d %d\n", i, time.Now().UnixNano())
	}
	fmt.Fprintf(&b, "%x\n", sha256.Sum256(b.Bytes()))
	return b.Bytes()
}

func get(c *ftp.ServerConn, path string) error {
	r, err := c.Retr(path)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	lines, _ := strings.CutSuffix(string(text), "\n")
	end := strings.LastIndexByte(lines, '\n') + 1
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(lines[:end]))); lines[end:] != want {
		return fmt.Errorf("%d bytes are not a whole file", len(text))
	}
	return nil
}
