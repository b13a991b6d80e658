package term

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestEscaper: characters that a terminal obeys are spelt out, and a JSON document still says the
// same.
func TestEscaper(t *testing.T) {
	var b bytes.Buffer
	e := Escaper{&b}
	n, err := e.Write([]byte("a\x1b[2J\tb\u009b\x7f\u202e\xff\u00e9\n"))
	if want := `a\u001b[2J` + "\tb" + `\u009b\u007f\u202e` + "\ufffd\u00e9\n"; err != nil || n != 17 || b.String() != want {
		t.Errorf("Write returns %d, %v, and wrote %q, want %q", n, err, b.String(), want)
	}
	b.Reset()
	const text = "\x1b\u009b\x7f\u202e\u2066\u2028\n\\"
	if err := json.NewEncoder(e).Encode(text); err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != text {
		t.Errorf("%s came back as %q, %v", b.Bytes(), back, err)
	}
}
