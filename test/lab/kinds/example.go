//go:build unix

package kinds

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/overlay"
)

// example builds the program of whoever adds the kind of ExampleWith to locksmith: its file is
// taken as it is, and the example becomes the program's main.
func example(t testing.TB) (program string) {
	t.Helper()
	lab.NotShort(t, "it compiles a program")
	root, err := overlay.Root()
	if err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(root, "cmd/locksmith/main.go")
	text, err := os.ReadFile(filepath.Join(root, "cmd/locksmith/cli/example_with_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list, err := overlay.WriteFiles(dir, map[string]string{main: asProgram(t, string(text))})
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "locksmith") // it takes the place of locksmith, whose name is in what status says
	build := exec.Command("go", "build", "-overlay", list, "-o", program, "locksmith/cmd/locksmith")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	must(t, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755)) // every user may run it
	return program
}

// asProgram makes a program of the example's file. Each text must be there once.
func asProgram(t testing.TB, text string) string {
	t.Helper()
	for _, change := range [][2]string{
		{"package cli_test\n", "package main\n"},
		{"func ExampleWith() {\n", "func main() {\n"},
		{"\tdir, _ := os.MkdirTemp(\"\", \"example\")\n\tdefer os.RemoveAll(dir)\n", ""},
		{"\tfmt.Println(\"nobody has it:\", main([]string{\"break\", \"table:\" + dir + \"/jobs.db\", \"--id\", \"0123\"}) == protocol.Gone.Exit())\n", "\tos.Exit(main(os.Args[1:]))\n"},
		{"\t\"locksmith/protocol\"\n", "\t_ \"locksmith/cmd/locksmith/singleproc\"\n"},
	} {
		if strings.Count(text, change[0]) != 1 {
			t.Fatalf("the file of ExampleWith has changed: it has not once\n%s", change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	return text
}
