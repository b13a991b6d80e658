package labels

import (
	"strings"
	"testing"
	"time"

	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/owner"
)

// TestNoteParts: a note comes back from its parts. Each part is a name that every server takes.
// If a part is missing, or somebody else made one, there is no note.
func TestNoteParts(t *testing.T) {
	n := owner.Note{ID: strings.Repeat("52", 16), Lease: time.Minute, User: "alice", Host: "web1", At: time.Unix(1e9, 0).UTC(), Forced: true}
	for reason, atLeast := range map[string]int{"": 1, "the host is gone": 1, strings.Repeat("é", 100): 2} {
		n.Reason = reason
		text, err := n.Format()
		named := "broken." + n.Name()
		parts := PackNote(named, text)
		if err != nil || len(parts) < atLeast || len(parts) > maxNoteParts {
			t.Fatalf("a note is packed into %d parts, %v", len(parts), err)
		}
		var names []string
		for _, p := range parts {
			names = append(names, p.String())
			if len(p.String()) > 255 {
				t.Errorf("the name of a part is too long: %s", p)
			}
		}
		if back := UnpackNote(PartsOfNotes(names)[named]); back != text {
			t.Errorf("the note %+v came back as %q", n, back)
		}
		if torn := UnpackNote(PartsOfNotes(names[1:])[named]); torn != "" {
			t.Errorf("without its first part it is %q", torn)
		}
		strange := append(names[1:], names[0][:len(names[0])-2]+"__")
		if torn := UnpackNote(PartsOfNotes(strange)[named]); torn == text {
			t.Errorf("with another part it is %q", torn)
		}
	}
	for _, name := range []string{"broken.", "broken.60000-x.0.1.a", "broken.60000-" + n.ID + ".1.1.a", "broken.60000-" + n.ID + ".0.10.a",
		"broken.60000-" + n.ID + ".-1.1.a", "broken.60000-" + n.ID + ".00.1.a", "broken.60000-" + n.ID + ".0.1"} {
		if p, ok := parseNotePart(name); ok {
			t.Errorf("%s counts as part of a note: %+v", name, p)
		}
	}
}

func TestSuccessNames(t *testing.T) {
	id := strings.Repeat("0a", 16)
	for _, s := range []Succeeded{{Number: 1, ID: id, At: 0, Host: "web3"}, {Number: 7, ID: id, At: 1795407317, Host: "wëb\n.3"}, {Number: 2, ID: id, At: -1, Host: "?"}} {
		if back, ok := ParseSuccess(s.String()); !ok || back != s || strings.HasSuffix(s.String(), ".") {
			t.Errorf("the success %s is read as %v, %v", s, back, ok)
		}
		if !IsDirStyle(dirs.Entry{Name: s.String()}) {
			t.Errorf("%s is no part of a lock", s)
		}
	}
	for _, bad := range []string{"done.", "done.0." + id + ".0.Pw", "done.01." + id + ".0.Pw", "done.1.x.0.Pw", "done.1." + id + ".0.P", "done.1." + id + ".0.Pw.x"} {
		if s, ok := ParseSuccess(bad); ok {
			t.Errorf("%s counts as a success: %v", bad, s)
		}
	}
}
