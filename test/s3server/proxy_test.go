package s3server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"locksmith/test/lab"
)

func TestMain(m *testing.M) { lab.Main(m, nil) }

// TestFaults: each fault does what its name says, to one request only.
func TestFaults(t *testing.T) {
	for f, c := range map[Fault]struct {
		executed int
		answer   string // the answer's status and body, or the beginning of the error
	}{
		None:     {1, "200 whole"},
		Refused:  {0, "EOF"},
		Lost:     {1, "EOF"},
		Halved:   {1, "unexpected EOF"},
		Turned:   {1, "503 <Error>"},
		Repeated: {2, "200 whole"},
		Missed:   {0, "404 404 page not found"},
	} {
		executed := 0
		target := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if string(body) != "body" {
				t.Errorf("%s: %q comes", Faults[f], body)
			}
			executed++
			_, _ = io.WriteString(w, "whole")
		})
		p := StartProxy(t, serve(t, target))
		p.Fail(0, f)
		if got := ask(p.Endpoint + "/bucket/locks/l/r.1"); !strings.Contains(got, c.answer) {
			t.Errorf("%s: %q", Faults[f], got)
		}
		if executed != c.executed {
			t.Errorf("%s: executed %d times", Faults[f], executed)
		}
		if got := ask(p.Endpoint + "/bucket?list-type=2"); got != "200 whole" {
			t.Errorf("after %s: %q", Faults[f], got)
		}
		if all := p.Requests(); !slices.Equal(all, []string{"PUT r", "LIST"}) {
			t.Errorf("requests: %q", all)
		}
	}
}

// TestTurns: requests go to the gateways by turns; a gateway that is down gives no answer.
func TestTurns(t *testing.T) {
	say := func(what string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, what) })
	}
	p := StartProxy(t, serve(t, say("a")), "http://127.0.0.1:1", serve(t, say("c")))
	var all []string
	for range 4 {
		all = append(all, ask(p.Endpoint))
	}
	if all[0] != "200 a" || !strings.Contains(all[1], "EOF") || all[2] != "200 c" || all[3] != "200 a" {
		t.Errorf("%q", all)
	}
}

func serve(t *testing.T, h http.Handler) (endpoint string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// ask returns the status and the body of an answer, or what went wrong.
func ask(url string) string {
	r, err := http.NewRequest(http.MethodPut, url, strings.NewReader("body"))
	if err != nil {
		return err.Error()
	}
	// Each request has a transport of its own, for a transport that had a connection before asks
	// again by itself.
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(strings.Fields(answer.Status)[0] + " " + string(body))
}
