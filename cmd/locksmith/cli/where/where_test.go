package where

import (
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/protocol"
)

func somebody() show.Participant {
	return show.Participant{Holder: backend.Holder{
		ID: "00000000000000000000000000000012", PID: 4242, Verdict: owner.Alive,
		Age: 90 * time.Minute, Lease: time.Minute,
		Record: &owner.Record{User: "alice", Mode: "exclusive", Place: owner.Place{Host: "web3"},
			Meta: []protocol.Field{{Key: "job", Value: "nightly"}, {Key: "user", Value: "bob"}, {Key: "try", Value: "10"},
				{Key: "limit", Value: "90s"}, {Key: "empty"}, {Key: "version", Value: "1.2.3"}, {Key: "text", Value: "a=b<c"}}},
	}}
}

func TestConditions(t *testing.T) {
	for text, want := range map[string]bool{
		"job=nightly": true, "job!=nightly": false, "job=night": false, "job>a": true, "job<a": false,
		"user=alice": true, "meta.user=bob": true, "meta.job=nightly": true, "host=web3": true, "host>web20": true,
		"try=10.0": true, "try>9": true, "try<=10": true, "try>=11": false, "try>9x": false,
		"limit<2m": true, "limit=1m30s": true, "limit<=90": false,
		"version<1.2.4": true, "text=a=b<c": true, "empty=": true, "empty!=": false, "empty<=": true,
		"pid=4242": true, "pid<5000": true, "pid!=4242": false, "token=7": true, "token>=8": false,
		"id=12": false, "id=00000000000000000000000000000012": true, "id!=00000000000000000000000000000012": false,
		"state=held": true, "state!=held": false, "verdict=alive": true, "verdict!=orphaned": true, "mode=exclusive": true, "mode=shared": false,
		"age>1h": true, "age<5400.5": true, "age=90m": true, "lease=60": true, "lease>1m": false,
		"heartbeat<1h": false, "heartbeat>0": false, "heartbeat!=0": true,
		"nothing=": false, "nothing!=x": true, "nothing<x": false, "nothing>=": false, "meta.age=1": false,
	} {
		c, err := Parse(text)
		if err != nil {
			t.Errorf("parse of --where %s: %v", text, err)
		} else if c.Matches(somebody(), 7) != want {
			t.Errorf("--where %s matches: %v, want the other", text, !want)
		}
	}
	for _, text := range []string{"", "job", "=x", "Job=x", "job==x", "job!x", "a b=c", "meta.=x", "age>soon", "age<-1s", "age=",
		"lease=", "pid=me", "token>1e3", "k\n=x", "state=free", "mode!=private", "verdict=", "a0123456789012345678901234567=x"} {
		if c, err := Parse(text); err == nil {
			t.Errorf("--where accepts %q, as %q", text, c)
		}
	}
}

// TestTimesOfSigns: the age of the last sign of life is compared as a duration, in any unit.
func TestTimesOfSigns(t *testing.T) {
	p := somebody()
	p.Heartbeat = 90 * time.Second
	for text, want := range map[string]bool{"heartbeat=1m30s": true, "heartbeat=90": true, "heartbeat>9s": true, "heartbeat>2m": false} {
		c, err := Parse(text)
		if err != nil || c.Matches(p, 7) != want {
			t.Errorf("the last heartbeat was 90 s ago, and --where %s matches: %v, want %v (parse: %v)", text, !want, want, err)
		}
	}
}

// TestConditionsOfNobodyKnown: an unknown value matches only !=.
func TestConditionsOfNobodyKnown(t *testing.T) {
	p := show.Participant{Holder: backend.Holder{Verdict: owner.Unknown}, Waits: true}
	for key := range fields {
		value := "x"
		if fields[key] != text {
			value = "1"
		}
		for _, sign := range signs {
			want := sign == "!="
			if key == "state" || key == "verdict" { // always known, and before x
				want = want || sign == "<" || sign == "<="
			}
			if (Condition{key, sign, value}).Matches(p, 7) != want {
				t.Errorf("for a waiter of whom nothing is known, --where %s%s%s matches: %v, want the opposite", key, sign, value, !want)
			}
		}
	}
	if (Condition{"state", "=", "waiting"}).Matches(p, 0) != true {
		t.Error("a waiter does not match --where state=waiting")
	}
}

func FuzzCondition(f *testing.F) {
	for _, s := range []string{"job=nightly", "age>1h", "try<=10", "job!=", "meta.user=x", "pid>=1", "a=<b", "a<=>b", "limit<2m", "try=99999999999999999999.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(c.String()); c.String() != s || err != nil || again != c {
			t.Fatalf("%q became %q, %v", s, c, err)
		}
		is := map[string]bool{}
		for _, sign := range signs {
			is[sign] = Condition{c.Key, sign, c.Value}.Matches(somebody(), 7)
		}
		known := is["="] || is["<"] || is[">"]
		if is["="] == is["!="] || is["<"] && is[">"] || is["<="] != (is["<"] || is["="]) || is[">="] != (is[">"] || is["="]) || !known && !is["!="] {
			t.Fatalf("%q: %v", s, is)
		}
	})
}
