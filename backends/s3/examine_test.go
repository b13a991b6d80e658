//go:build unix

package s3

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/generation/objects"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/s3server"
)

// before serves a store with a handler before it, which calls pass or answers itself.
func before(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, pass http.Handler)) (address string) {
	t.Helper()
	store := s3server.Pass(t, s3server.Start(t, s3server.Embedded).Endpoint)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, store) }))
	t.Cleanup(s.Close)
	return addressAt(s.URL)
}

// examine returns the checks by their names.
func examine(t *testing.T, address string) (backend.Finding, map[string]backend.Check) {
	t.Helper()
	var all []backend.Check
	err := mustOpen(t, address).Examine(t.Context(), backend.Examination{Rounds: 15}, func(c backend.Check) { all = append(all, c) })
	backendtest.MustWork(t, err)
	if left := keys(t, address); len(left) > 0 {
		t.Errorf("doctor leaves objects behind: %q", left)
	}
	named := map[string]backend.Check{}
	for _, c := range all {
		named[c.Name] = c
	}
	return backend.Verdict(all), named
}

func TestExamine(t *testing.T) {
	verdict, checks := examine(t, serve(t))
	if verdict != backend.Fit || len(checks) != 10 || !strings.Contains(checks["many create the same"].Text, "in each of 15 rounds one of 32 succeeded") {
		t.Errorf("doctor of a fit store says %s: %+v", verdict, checks)
	}
}

// TestSettings: doctor tells what the bucket does with objects by itself. A rule that removes
// objects makes the bucket unfit. Settings that these credentials may not read are unknown.
func TestSettings(t *testing.T) {
	const rule = `<LifecycleConfiguration><Rule><ID>tidy</ID><Status>Enabled</Status><Filter><Prefix>%s</Prefix></Filter>%s</Rule></LifecycleConfiguration>`
	for about, c := range map[string]struct {
		setting, answer, check string
		status                 int
		finding                backend.Finding
		says                   string
	}{
		"versions":          {"versioning", "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>", "versioning", 200, backend.Weak, "each heartbeat and each removal leaves an old version"},
		"expiry":            {"lifecycle", fmt.Sprintf(rule, "locks/", "<Expiration><Days>30</Days></Expiration>"), "lifecycle", 200, backend.Unfit, `rule "tidy" removes objects by age`},
		"expiry elsewhere":  {"lifecycle", fmt.Sprintf(rule, "logs/", "<Expiration><Days>30</Days></Expiration>"), "lifecycle", 200, backend.Fit, "shows no rule"},
		"expiry of markers": {"lifecycle", fmt.Sprintf(rule, "", "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>"), "lifecycle", 200, backend.Fit, "shows no rule"},
		"retention": {"object-lock", "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>",
			"object lock", 200, backend.Weak, "cannot be removed"},
		"no rules":  {"lifecycle", "<Error><Code>NoSuchLifecycleConfiguration</Code></Error>", "lifecycle", 404, backend.Fit, "shows no rule"},
		"forbidden": {"lifecycle", "<Error><Code>AccessDenied</Code></Error>", "lifecycle", 403, backend.Unknown, "may not read it"},
		"failing":   {"versioning", "<Error><Code>InternalError</Code></Error>", "versioning", 500, backend.Unknown, "500 InternalError"},
	} {
		t.Run(about, func(t *testing.T) {
			_, checks := examine(t, before(t, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
				if _, asked := r.URL.Query()[c.setting]; !asked {
					pass.ServeHTTP(w, r)
					return
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.answer))
			}))
			if found := checks[c.check]; found.Finding != c.finding || !strings.Contains(found.Text, c.says) || found.Finding != backend.Fit && found.Advice == "" {
				t.Errorf("the bucket's settings are told as %+v", found)
			}
		})
	}
}

// TestLeftBehind: what cannot be removed at the end is told of.
func TestLeftBehind(t *testing.T) {
	checks := map[string]backend.Check{}
	address := before(t, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		if _, raced := checks["many create the same"]; raced && r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte("<Error><Code>AccessDenied</Code></Error>"))
			return
		}
		pass.ServeHTTP(w, r)
	})
	backendtest.MustWork(t, mustOpen(t, address).Examine(t.Context(), backend.Examination{Rounds: 1}, func(c backend.Check) { checks[c.Name] = c }))
	left := keys(t, address)
	if len(left) == 0 {
		t.Fatal("nothing was left behind")
	}
	prefix := left[0][:strings.LastIndexByte(left[0], '.')]
	if c := checks["clean up"]; c.Finding != backend.Weak || !strings.Contains(c.Text, prefix+" stays") || c.Advice == "" {
		t.Errorf("of what is left, %q, doctor says %+v", left, c)
	}
}

// TestProgress: a long check tells how far it is.
func TestProgress(t *testing.T) {
	var told []string
	backendtest.MustWork(t, mustOpen(t, serve(t)).Examine(t.Context(), backend.Examination{Rounds: 3, Progress: func(text string) { told = append(told, text) }}, func(backend.Check) {}))
	if all := strings.Join(told, "; "); all != "many create the same: 0 of 3 rounds; many create the same: 1 of 3 rounds; many create the same: 2 of 3 rounds" {
		t.Errorf("the progress that was told is %s", all)
	}
}

// TestUnfitStores: stores that accept the condition of a write and do not keep it, each in its
// own way.
func TestUnfitStores(t *testing.T) {
	for check, c := range map[string]struct {
		says   string
		kind   string // of the store, or of what is before a fit store
		handle func(w http.ResponseWriter, r *http.Request, pass http.Handler)
	}{
		"conditional creation": {"the store ignores the condition", s3server.Careless, nil},
		"many create the same": {"rounds up to", s3server.Racing, nil},
		"freshness":            {"as it had been before", "", forgets()},
		"objects": {"what was removed is still there", "", func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, ".0") { // the first object that is made
				w.WriteHeader(http.StatusNoContent)
				return
			}
			pass.ServeHTTP(w, r)
		}},
	} {
		t.Run(check, func(t *testing.T) {
			var address string
			if c.kind != "" {
				address = addressAt(s3server.Start(t, c.kind).Endpoint)
			} else {
				address = before(t, c.handle)
			}
			var all []backend.Check
			err := mustOpen(t, address).Examine(t.Context(), backend.Examination{Rounds: 5}, func(c backend.Check) { all = append(all, c) })
			backendtest.MustWork(t, err)
			for _, found := range all {
				if found.Name == check && found.Finding == backend.Unfit && strings.Contains(found.Text, c.says) {
					return
				}
			}
			t.Errorf("doctor of an unfit store finds %+v", all)
		})
	}
}

// TestUnansweredRace: a round in which somebody got no answer tells nothing.
func TestUnansweredRace(t *testing.T) {
	var creations atomic.Int32
	address := before(t, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		if r.Header.Get("If-None-Match") != "" && creations.Add(1)%racers == 5 {
			panic(http.ErrAbortHandler)
		}
		pass.ServeHTTP(w, r)
	})
	err := mustOpen(t, address).Examine(t.Context(), backend.Examination{Rounds: 5}, func(c backend.Check) {
		if c.Name == "many create the same" {
			t.Errorf("a race without all answers is judged: %+v", c)
		}
	})
	backendtest.MustFail(t, err, protocol.Unreachable, "create an object")
}

// forgets answers every HEAD after the second DELETE with a success, as if the object were there
// still.
func forgets() func(http.ResponseWriter, *http.Request, http.Handler) {
	var mu sync.Mutex
	deleted := 0
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		mu.Lock()
		if r.Method == http.MethodDelete {
			deleted++
		}
		old := r.Method == http.MethodHead && deleted > 1
		mu.Unlock()
		if old {
			w.Header().Set("ETag", `"old"`)
			w.WriteHeader(http.StatusOK)
			return
		}
		pass.ServeHTTP(w, r)
	}
}

// TestAnswers: what a refusal means, and what to do about it. A request is sent once, unless it
// changes nothing and a later one may be answered.
func TestAnswers(t *testing.T) {
	for about, c := range map[string]struct {
		status int
		body   string
		code   protocol.Code
		says   string
	}{
		"clock":        {403, "RequestTimeTooSkewed", protocol.Permission, "set the clock of this machine: it is "},
		"rights":       {403, "AccessDenied", protocol.Permission, "AWS_PROFILE"},
		"bucket":       {404, "NoSuchBucket", protocol.CannotCreate, "make the bucket first"},
		"no store":     {404, "NotFound", protocol.Unreachable, "need not be the store's; look at the endpoint"},
		"no key":       {404, "NoSuchKey", protocol.Unreachable, "need not be the store's; look at the endpoint"}, // the request named no object
		"parent":       {409, "ObjectParentIsFile", protocol.CannotCreate, "choose another prefix"},
		"conflict":     {409, "ConditionalRequestConflict", protocol.Unreachable, "409"},
		"busy":         {503, "SlowDown", protocol.Unreachable, "503 SlowDown"},
		"fault":        {500, "InternalError", protocol.Unreachable, "try again"},
		"slow":         {400, "RequestTimeout", protocol.Unreachable, "try again"},
		"token":        {400, "ExpiredToken", protocol.Permission, "AWS_PROFILE"},
		"no key id":    {404, "InvalidAccessKeyId", protocol.Permission, "404 InvalidAccessKeyId: because; correct the credentials"},
		"key id":       {400, "InvalidAccessKeyId", protocol.Permission, "400 InvalidAccessKeyId: because; correct the credentials"},
		"secret":       {403, "SignatureDoesNotMatch", protocol.Permission, "403 SignatureDoesNotMatch: because; correct the credentials"},
		"region":       {400, "AuthorizationHeaderMalformed", protocol.CannotCreate, "add its region to the address, as in '?region=eu-central-1'"},
		"unknown name": {418, "NewName", protocol.CannotCreate, "locksmith doctor 's3://bucket/locks/l?endpoint="},
		"unknown":      {501, "NotImplemented", protocol.CannotCreate, "choose another one"},
		"redirect":     {307, "TemporaryRedirect", protocol.CannotCreate, "?region="},
	} {
		t.Run(about, func(t *testing.T) {
			requests, writes := 0, 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				if r.Method != http.MethodGet {
					writes++
				}
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte("<Error><Code>" + c.body + "</Code><Message>because</Message></Error>"))
			}))
			defer s.Close()
			of := mustOpen(t, addressAt(s.URL)).Store
			backendtest.MustFail(t, of.Create(t.Context(), "k", []byte("v")), c.code, c.says)
			_, err := of.List(t.Context())
			backendtest.MustFail(t, err, c.code, c.says)
			want := 1
			if c.code == protocol.Unreachable && c.status != http.StatusNotFound { // a look often finds nothing, and is not repeated then
				want = maxLooks
			}
			if writes != 1 || requests-writes != want {
				t.Errorf("%d requests, %d of them to write", requests, writes)
			}
		})
	}
	backendtest.MustFail(t, mustOpen(t, addressAt("http://127.0.0.1:1")).Store.Put(t.Context(), "k", nil), protocol.Unreachable, "refused")
}

// TestWrongRegion: the store names its region, in a header or in its message. The advice is the
// address with that region, quoted for a shell.
func TestWrongRegion(t *testing.T) {
	for _, c := range map[string]struct {
		status        int
		header, error string
	}{
		"moved":     {301, "eu-central-1", "<Code>PermanentRedirect</Code><Message>use another endpoint</Message>"},
		"malformed": {400, "", "<Code>AuthorizationHeaderMalformed</Code><Message>the region 'us-east-1' is wrong; expecting 'eu-central-1'</Message>"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Amz-Bucket-Region", c.header)
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte("<Error>" + c.error + "</Error>"))
		}))
		defer s.Close()
		address := addressAt(s.URL)
		_, err := mustOpen(t, address).Store.List(t.Context())
		a, _ := backend.ParseAddress(address+"&region=eu-central-1", schemes)
		backendtest.MustFail(t, err, protocol.CannotCreate, "the bucket is in region eu-central-1: write '"+a.String()+"'")
		_, err = mustOpen(t, a.String()).Store.List(t.Context())
		backendtest.MustFail(t, err, protocol.CannotCreate, "or its store's '?endpoint=https://host'")
	}
}

// TestNothingWritten: if a check fails before anything is written, there is nothing to clean up,
// and nobody is told of a removal. The address is told once.
func TestNothingWritten(t *testing.T) {
	address := addressAt("http://127.0.0.1:1")
	l := mustOpen(t, address)
	a, err := l.Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	_, err = a.Try(t.Context())
	text := ""
	if err != nil {
		text = err.Error()
	}
	if strings.Contains(text, "remove an object") || strings.Contains(text, "Delete") || !strings.Contains(text, "connection refused") || strings.Count(text, "s3://") != 1 {
		t.Errorf("without a store doctor says %s", text)
	}
	err = l.Examine(t.Context(), backend.Examination{Rounds: 1}, func(c backend.Check) { t.Errorf("found without a store: %+v", c) })
	backendtest.MustFail(t, err, protocol.Unreachable, "list objects: dial tcp 127.0.0.1:1")
}

// TestNotFound: only the store's own word for it says that there is no such object. Any other 404
// may not be the store's, and neither may that of a look, whose answer has no words.
func TestNotFound(t *testing.T) {
	for about, c := range map[string]struct {
		body   string
		absent bool
	}{
		"of a proxy":  {"404 page not found", false},
		"of a page":   {"<html><body><h1>404 Not Found</h1></body></html>", false},
		"of nobody":   {"", false},
		"of a store":  {"<Error><Code>NoSuchKey</Code><Message>because</Message></Error>", true},
		"of its kind": {"<Error><Code>NoSuchUpload</Code></Error>", false},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(c.body))
		}))
		defer s.Close()
		of := mustOpen(t, addressAt(s.URL)).Store
		_, _, read := of.Get(t.Context(), "k")
		_, looked := of.Head(t.Context(), "k")
		removed := of.Delete(t.Context(), "k")
		if errors.Is(read, objects.ErrAbsent) != c.absent || errors.Is(looked, objects.ErrAbsent) || (removed == nil) != c.absent {
			t.Errorf("a 404 %s: Get returns %v, Head %v, Delete %v", about, read, looked, removed)
		}
		for _, err := range []error{read, looked, removed} {
			if err != nil && err != objects.ErrAbsent {
				backendtest.MustFail(t, err, protocol.Unreachable, "the answer is 404, and need not be the store's")
			}
		}
	}
}

// TestForeignSuccess: a success that is not the store's, such as a page that greets, does not
// count.
func TestForeignSuccess(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>welcome</html>"))
	}))
	defer s.Close()
	of := mustOpen(t, addressAt(s.URL)).Store
	_, looked := of.Head(t.Context(), "k")
	_, listed := of.List(t.Context())
	for request, err := range map[string]error{"put": of.Put(t.Context(), "k", nil), "delete": of.Delete(t.Context(), "k"), "head": looked, "list": listed} {
		if err == nil {
			t.Errorf("%s: a page that greets is taken for the store's answer", request)
			continue
		}
		backendtest.MustFail(t, err, protocol.Unreachable, "")
	}
}

// TestNoWordForAbsent: a store whose 404 does not say what is missing is not fit.
func TestNoWordForAbsent(t *testing.T) {
	address := before(t, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		answer := httptest.NewRecorder()
		if pass.ServeHTTP(answer, r); answer.Code == http.StatusNotFound {
			http.NotFound(w, r)
			return
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
	if verdict, checks := examine(t, address); verdict != backend.Unfit || !strings.Contains(checks["objects"].Text, "NoSuchKey") {
		t.Errorf("doctor of a store whose 404 does not say what is missing says %s: %+v", verdict, checks)
	}
}

// TestNoCredentials: that we have no credentials says nothing about an object.
func TestNoCredentials(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusPreconditionFailed, http.StatusForbidden} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		defer s.Close()
		for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": s.URL} {
			t.Setenv(name, value)
		}
		store := mustOpen(t, serve(t)).Store
		_, err := store.Head(t.Context(), "k")
		backendtest.MustFail(t, err, protocol.Unreachable, "AWS_PROFILE")
		backendtest.MustFail(t, store.Create(t.Context(), "k", nil), protocol.Unreachable, "AWS_PROFILE")
	}
}

// TestCutShort: an answer that breaks off tells nothing, even if it began as a success.
func TestCutShort(t *testing.T) {
	address := before(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`<?xml version="1.0"?><ListBucketResult><Contents><Key>locks/l/g.`))
	})
	store := mustOpen(t, address).Store
	_, err := store.List(t.Context())
	backendtest.MustFail(t, err, protocol.Unreachable, "list objects: the answer cannot be read: ")
	if strings.Contains(err.Error(), "RequestID") {
		t.Errorf("an error of an answer that was cut short shows the library's text: %v", err)
	}
	_, _, err = store.Get(t.Context(), "k")
	backendtest.MustFail(t, err, protocol.Unreachable, "read an object")
}

func TestAddresses(t *testing.T) {
	for address, says := range map[string]string{
		"s3://bucket/a/b":                               "",
		"s3://my.bucket/a?region=eu-central-1":          "",
		"s3://bucket/a?endpoint=https://h:1&path=style": "",
		"s3://me@bucket/a":                              "names a user",
		"s3://bucket:1/a":                               "letters, digits",
		"s3://bucket":                                   "names no lock there; add its name after the host or the bucket, and before any ?: s3://bucket/name",
		"s3://bucket?path=style":                        "names no lock there; add its name after the host or the bucket, and before any ?: s3://bucket/name",
		"s3://bucket//a":                                "begins with a slash",
		"s3://bucket/a?endpoint=h:1":                    "https://host:port",
		"s3://bucket/a?endpoint=http://u:hidden@h":      "https://host:port",
		"s3://bucket/a?path=host":                       "may be style",
		"s3://bucket/a?region=a/b":                      "no name of a region",
		"s3://bucket/a?secret=x":                        "not known",
		"s3://bucket/" + strings.Repeat("a", maxPath):   "too long",
	} {
		_, err := open(address)
		if says == "" {
			backendtest.MustWork(t, err)
			continue
		}
		backendtest.MustFail(t, err, protocol.Usage, says)
		if strings.Contains(err.Error(), "hidden") {
			t.Errorf("a secret is shown: %v", err)
		}
	}
	a, _ := backend.ParseAddress("s3://b/x?path=style&endpoint=http://h", schemes)
	b, _ := backend.ParseAddress("s3://B:443/./x?endpoint=http://h", schemes)
	c, _ := backend.ParseAddress("s3://b/x", schemes)
	if Key(a) != Key(b) || Key(a) == Key(c) {
		t.Errorf("the keys of the same lock must be equal, and of another not: %q, %q, %q", Key(a), Key(b), Key(c))
	}
}

func TestList(t *testing.T) {
	address := serve(t)
	for _, place := range []string{"l", "a/b/c", "a/d"} {
		a, err := mustOpen(t, strings.Replace(address, "locks/l", "locks/"+place, 1)).Attempt(backendtest.Request())
		backendtest.MustWork(t, err)
		h := backendtest.MustHold(t, a)
		if place != "l" {
			defer backendtest.MustRelease(t, h)
			continue
		}
		backendtest.MustRelease(t, h)
	}
	found := func(depth int) (all []string) {
		backendtest.MustWork(t, finder.List(t.Context(), mustOpen(t, strings.Replace(address, "locks/l", "locks", 1)), "", backend.Listing{Depth: depth, Tell: func(l backend.Listed) {
			backendtest.MustWork(t, l.Err)
			path, _, _ := strings.Cut(l.Lock, "?")
			all = append(all, strings.Repeat("held ", len(l.Report.Holders))+path)
		}}))
		return all
	}
	if all := strings.Join(found(0), ", "); all != "held s3://bucket/locks/a/b/c, held s3://bucket/locks/a/d, s3://bucket/locks/l" {
		t.Errorf("list finds %s", all)
	}
	if all := strings.Join(found(1), ", "); all != "s3://bucket/locks/l" {
		t.Errorf("list to depth 1 finds %s", all)
	}
}
