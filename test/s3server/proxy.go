package s3server

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"sync"
	"testing"
)

// A Fault is what goes wrong with one request.
type Fault int

// The faults. The server executes the request in all cases except Refused and Missed.
const (
	None     Fault = iota
	Refused        // the server never sees the request, and the connection ends
	Lost           // the connection ends without an answer
	Halved         // the connection ends in the middle of the answer
	Turned         // the answer becomes 503, whatever it was
	Repeated       // the request is sent twice, and the second answer is passed on
	Missed         // the server never sees the request, and the answer is the proxy's own 404
)

// Faults has the names of all faults except None.
var Faults = map[Fault]string{Refused: "refused", Lost: "answer lost", Halved: "half an answer", Turned: "503 instead", Repeated: "sent twice", Missed: "404 of the proxy"}

// A Proxy passes requests on to the gateways of one store by turns, as a balancer does.
type Proxy struct {
	Endpoint string

	mu      sync.Mutex
	targets []http.Handler
	seen    []string
	planned map[int]Fault // by the number of the request, from 0
	share   float64       // the share of all requests to which some fault happens
	turns   func(request string) bool
}

// StartProxy starts a proxy before servers. It runs until the test ends.
func StartProxy(t testing.TB, endpoints ...string) *Proxy {
	t.Helper()
	p := &Proxy{planned: map[int]Fault{}}
	for _, e := range endpoints {
		p.targets = append(p.targets, Pass(t, e))
	}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.Endpoint = s.URL
	return p
}

// Pass returns a handler that passes requests on to a server. It keeps the host that was signed.
// If the server does not answer, neither does the handler.
func Pass(t testing.TB, endpoint string) http.Handler {
	t.Helper()
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(u)
			r.Out.Host = r.In.Host
		},
		Transport:    &http.Transport{DisableKeepAlives: true}, // else the transport may ask again by itself
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// Fail has a fault happen to the nth request from now on, counted from 0.
func (p *Proxy) Fail(n int, f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.planned[len(p.seen)+n] = f
}

// FailOften has faults happen by chance to a share of all requests.
func (p *Proxy) FailOften(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share = share
}

// TurnAway has the proxy itself answer 503 to the requests for which turns is true, as a store
// that is too busy does: they are not executed. With nil it turns none away.
func (p *Proxy) TurnAway(turns func(request string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns = turns
}

// Requests returns the requests so far, each as its method and the first letters of its key,
// which tell what the object is: "PUT r". A GET of the bucket is LIST.
func (p *Proxy) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.seen...)
}

// next notes a request, and decides which server gets it and which fault happens to it.
func (p *Proxy) next(r *http.Request) (http.Handler, Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.seen)
	p.seen = append(p.seen, describe(r))
	f := p.planned[n]
	if p.share > rand.Float64() {
		f = Fault(1 + rand.IntN(len(Faults)))
	}
	if p.turns != nil && p.turns(p.seen[n]) {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { slowDown(w) }), None
	}
	return p.targets[n%len(p.targets)], f
}

func slowDown(w http.ResponseWriter) {
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, "<Error><Code>SlowDown</Code></Error>")
}

func describe(r *http.Request) string {
	if r.URL.Query().Has("list-type") {
		return "LIST"
	}
	return fmt.Sprintf("%s %.1s", r.Method, path.Base(r.URL.Path))
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target, f := p.next(r)
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil || f == Refused:
		panic(http.ErrAbortHandler)
	case f == Missed:
		http.NotFound(w, r)
		return
	}
	answer := execute(target, r, body)
	switch f {
	case Lost:
		panic(http.ErrAbortHandler)
	case Halved:
		halve(w, r, answer)
	case Turned:
		slowDown(w)
	case Repeated:
		pass(w, execute(target, r, body))
	default:
		pass(w, answer)
	}
}

// execute has a server execute a request.
func execute(target http.Handler, r *http.Request, body []byte) *http.Response {
	once := r.Clone(r.Context())
	once.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	target.ServeHTTP(answer, once)
	return answer.Result()
}

func pass(w http.ResponseWriter, answer *http.Response) {
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body) // the client may have gone
}

// halve sends the first half of the answer.
func halve(w http.ResponseWriter, r *http.Request, answer *http.Response) {
	answer.Request = r // so that Write knows that the answer to a HEAD has no body
	var all bytes.Buffer
	_ = answer.Write(&all) // writes to memory
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_, _ = conn.Write(all.Bytes()[:all.Len()/2])
	_ = conn.Close()
}
