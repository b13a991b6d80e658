package s3server

import (
	"net/http"
	"net/http/httptest"
	"time"
)

// condition is the header that makes a PUT create an object, or fail if the object exists.
const condition = "If-None-Match"

// ignoreCondition makes a store write an object even if it exists.
func ignoreCondition(store http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del(condition)
		store.ServeHTTP(w, r)
	}
}

// lookThenWrite makes a store look whether the object exists, and write it a moment later: a
// client for whom it looks in between wins, too.
func lookThenWrite(store http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(condition) == "" {
			store.ServeHTTP(w, r)
			return
		}
		look, there := r.Clone(r.Context()), httptest.NewRecorder()
		look.Method, look.Body, look.ContentLength = http.MethodHead, http.NoBody, 0
		look.Header.Del(condition)
		if store.ServeHTTP(there, look); there.Code == http.StatusOK {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		time.Sleep(10 * time.Millisecond)
		ignoreCondition(store)(w, r)
	}
}
