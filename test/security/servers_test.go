//go:build linux

package security

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/test/lab"
)

// A flood is what a hostile server lists again and again: the number of names, and their length.
type flood struct {
	about        string
	names, bytes int
	says         string
}

var floods = []flood{
	{"short names", 1000, 8, "more than 100000 names"},
	{"long names", 20, 10 << 10, "more than 16777216 bytes"},
}

func (f flood) name() string { return strings.Repeat("n", f.bytes) }

// TestFloods: a server whose listing has no end makes no command large, and does not keep a
// command from ending.
func TestFloods(t *testing.T) {
	for kind, start := range map[string]func(*testing.T, flood) *exec.Cmd{"sftp": floodSFTP, "ftp": floodFTP, "s3": floodS3} {
		for _, f := range floods {
			t.Run(kind+" "+f.about, func(t *testing.T) {
				t.Parallel()
				begun := time.Now()
				r, threads := watched(t, start(t, f))
				for n := 0; r.status == 69 && n < 5; n++ { // a busy machine may not read so much in the time of an answer
					r, threads = watched(t, start(t, f))
				}
				r.mustSay(t, 73, "too much is in the directory: "+f.says)
				if most := int64(128 << 10); r.memory > most {
					t.Errorf("for a directory with too much in it the command took %d KiB, want %d at most", r.memory, most)
				}
				if threads > 16 {
					t.Errorf("for a directory with too much in it the command had %d threads, want 16 at most", threads)
				}
				t.Logf("%d KiB, %d threads, %v", r.memory, threads, time.Since(begun))
			})
		}
	}
}

// watched runs a command to its end, and counts its threads meanwhile.
func watched(t *testing.T, cmd *exec.Cmd) (r result, threads int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	p := lab.Start(t, cmd)
	for ended := false; !ended; {
		select {
		case <-p.Ended():
			ended = true
		case <-time.After(5 * time.Millisecond):
			threads = max(threads, entriesOf(p.PID(), "task"))
		}
	}
	r = result{args: cmd.Args, status: p.Status(), out: out.String(), err: errs.String()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss
	}
	r.mustBeClean(t)
	return r, threads
}

// floodS3 asks a store whose answer to a listing has no end.
func floodS3(t *testing.T, f flood) *exec.Cmd {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.WriteString(w, "<ListBucketResult><IsTruncated>false</IsTruncated>")
		for err == nil {
			_, err = io.WriteString(w, strings.Repeat("<Contents><Key>"+f.name()+"</Key></Contents>", f.names))
		}
	}))
	t.Cleanup(s.Close)
	cmd := command(t, "status", "s3://bucket/locks/l?path=style&endpoint="+s.URL)
	cmd.Path = lab.Program(t, "cmd/locksmith-remote")
	cmd.Env = append(cmd.Env, "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x", "AWS_EC2_METADATA_DISABLED=true")
	return cmd
}

// floodFTP asks a server whose data connections have no end.
func floodFTP(t *testing.T, f flood) *exec.Cmd {
	control := listen(t)
	go func() {
		for {
			c, err := control.Accept()
			if err != nil {
				return
			}
			go serveFTP(c, listen(t), f)
		}
	}()
	return command(t, "status", "ftp://"+control.Addr().String()+"/lock")
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func serveFTP(c net.Conn, data net.Listener, f flood) {
	defer c.Close()
	fmt.Fprint(c, "220 hello\r\n")
	port := data.Addr().(*net.TCPAddr).Port
	for in := bufio.NewScanner(c); in.Scan(); {
		switch verb, _, _ := strings.Cut(in.Text(), " "); verb {
		case "FEAT":
			fmt.Fprint(c, "211 nothing\r\n")
		case "USER":
			fmt.Fprint(c, "230 come in\r\n")
		case "EPSV":
			fmt.Fprintf(c, "229 here (|||%d|)\r\n", port)
		case "PWD":
			fmt.Fprint(c, "257 \"/\"\r\n")
		case "NLST", "LIST", "MLSD":
			fmt.Fprint(c, "150 it comes\r\n")
			if to, err := data.Accept(); err == nil {
				for err == nil {
					_, err = io.WriteString(to, strings.Repeat(f.name()+"\r\n", f.names))
				}
				_ = to.Close()
			}
			fmt.Fprint(c, "226 done\r\n")
		default:
			fmt.Fprint(c, "200 yes\r\n")
		}
	}
}

// roleSFTP plays an ssh that leads to a server whose listings have no end.
const roleSFTP = "sftp flood"

func floodSFTP(t *testing.T, f flood) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ssh := filepath.Join(t.TempDir(), "ssh") // leaves out the arguments
	mustWork(t, os.WriteFile(ssh, []byte("#!/bin/sh\nexec '"+self+"'\n"), 0o700))
	cmd := command(t, "status", "sftp://nobody@127.0.0.1/lock")
	cmd.Env = append(cmd.Env, "LOCKSMITH_SSH="+ssh, lab.RoleVariable+"="+roleSFTP, "FLOOD="+f.about)
	return cmd
}

// serveSFTP answers the requests that status makes (draft-ietf-secsh-filexfer-02).
func serveSFTP() int {
	i := slices.IndexFunc(floods, func(f flood) bool { return f.about == os.Getenv("FLOOD") })
	text := func(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }
	directory := []byte{0, 0, 0, 4, 0, 0, 0o40755 >> 8, 0o40755 & 0xff} // attributes with the mode alone
	item := slices.Concat(text(floods[i].name()), text(""), make([]byte, 4))
	names := append(binary.BigEndian.AppendUint32(nil, uint32(floods[i].names)), bytes.Repeat(item, floods[i].names)...)
	for {
		var length [4]byte
		if _, err := io.ReadFull(os.Stdin, length[:]); err != nil {
			return 0
		}
		asked := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(os.Stdin, asked); err != nil {
			return 0
		}
		kind, rest := byte(101), []byte{0, 0, 0, 0} // done
		switch asked[0] {
		case 1:
			kind, asked, rest = 2, []byte{0, 0, 0, 0, 3}, nil
		case 7:
			kind, rest = 105, directory
		case 11:
			kind, rest = 102, text("handle")
		case 12:
			kind, rest = 104, names
		case 16, 19:
			kind, rest = 104, append([]byte{0, 0, 0, 1}, slices.Concat(text("/"), text(""), make([]byte, 4))...)
		}
		reply := slices.Concat([]byte{kind}, asked[1:5], rest)
		if _, err := os.Stdout.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(reply))), reply...)); err != nil {
			return 0
		}
	}
}
