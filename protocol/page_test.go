package protocol

import (
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func page(t *testing.T) string {
	t.Helper()
	var all string
	for _, file := range []string{"README.md", "HELPERS.md", "EXTRAS.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return all
}

// TestPageCodes: the page has all codes, with the status of each, and no other.
func TestPageCodes(t *testing.T) {
	all := []Code{Usage, Unreachable, Internal, CannotCreate, Held, Timeout, Cancelled, Permission, Config,
		Gone, Expired, Unreleased, MaxHold} // but not Recent, which no line of a helper has
	told := map[Code]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9]+) \\|").FindAllStringSubmatch(page(t), -1) {
		told[Code(m[1])], _ = strconv.Atoi(m[2])
	}
	want := map[Code]int{}
	for _, c := range all {
		want[c] = c.Exit()
	}
	for _, c := range all {
		if told[c] != want[c] {
			t.Errorf("README.md says status %d for the code %s (0: it has no such code), and Exit (code.go) says %d", told[c], c, want[c])
		}
	}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("README.md and code.go have other codes: the page says %v, the codes are %v", told, want)
	}
}

// TestPageGrammar: the page says the figures of the grammar, and its lines keep to it.
func TestPageGrammar(t *testing.T) {
	text := page(t)
	for _, figure := range []string{
		"at most " + strconv.Itoa(MaxLine) + " bytes",
		"1*" + strconv.Itoa(maxWord) + `( "A".."Z" )`,
		"*" + strconv.Itoa(maxKey-1) + `( "a".."z" /`,
	} {
		if !strings.Contains(text, figure) {
			t.Errorf("the page does not say %q", figure)
		}
	}
	n := 0
	for _, line := range regexp.MustCompile(`(?m)^(OK|ERR|BEAT|LOST|RELEASED) [a-z_]+=.*$`).FindAllString(text, -1) {
		n++
		if _, err := Parse(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if n == 0 {
		t.Error("the page shows no line")
	}
}

// TestAdditions: what the page allows without a new number changes nothing for those that do not
// know it.
func TestAdditions(t *testing.T) {
	ok, err := Parse("OK colour=red lock=local:/a proto=1 lease_ms=1000 x.y-z= waited_ms=3 mode=exclusive id=3f text=welcome")
	if err != nil {
		t.Fatal(err)
	}
	g, err := ParseGrant(ok)
	if want := (Grant{ID: "3f", Mode: "exclusive", Waited: 3e6, Lease: 1e9, Lock: "local:/a"}); err != nil || !reflect.DeepEqual(g, want) {
		t.Errorf("%+v, %v", g, err)
	}
	refused, err := Parse("ERR shoe_size=44 code=tired pid=42 text=later")
	if h := ParseHolder(refused); err != nil || h != (Holder{PID: 42}) {
		t.Errorf("%+v, %v", h, err)
	}
	if c := Code(refused.Value("code")); c.Exit() != Internal.Exit() {
		t.Errorf("a code that is not known stands for %d", c.Exit())
	}
	if l, err := Parse("PRAISE to=the_holder\n"); err != nil || l.Word != "PRAISE" {
		t.Errorf("%+v, %v", l, err)
	}
}
