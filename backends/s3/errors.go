package s3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"locksmith/backends/backend"
	"locksmith/backends/generation/objects"
	"locksmith/protocol"
)

// fail is the error of something that was not done.
func (b *bucket) fail(code protocol.Code, op string, cause error, hint string) error {
	return &backend.Error{Code: code, Lock: b.address.String(), Op: op, Err: cause, Hint: hint}
}

// An answerError is an answer that is no success. It shows only the store's own text, because
// the library's texts are long.
type answerError struct {
	status        int
	code, message string
}

// foreign is the error of a success that lacks what every store tells of an object, or of a
// listing. Then something on the way has answered.
func (b *bucket) foreign(op string) error {
	return b.fail(protocol.Unreachable, op, errors.New("the answer is not that of an object store"), "look at what answers in its place, such as a proxy")
}

// saysNothing reports that the answer has none of the store's words. The library's own are those of
// the status, such as NotFound.
func (e *answerError) saysNothing() bool {
	return e.code == "" || e.code == nothingSaid || e.code == strings.ReplaceAll(http.StatusText(e.status), " ", "")
}

// isBare reports that the request was refused without a word of why.
func (e *answerError) isBare() bool { return e.status/100 == 4 && e.saysNothing() }

// nothingSaid is the library's text if the store gives none.
const nothingSaid = "UnknownError"

func (e *answerError) Error() string {
	text := fmt.Sprintf("the store answers %d", e.status)
	if e.code != "" {
		text += " " + e.code
	}
	if e.message != "" && e.message != e.code && e.message != nothingSaid {
		text += ": " + protocol.CleanText(e.message, 200)
	}
	return text
}

// How a store says that there is no such object, or no such bucket. Nobody else says so with a
// 404, and an answer to a HEAD has no text to say so.
const (
	noSuchKey    = "NoSuchKey"
	noSuchBucket = "NoSuchBucket"
)

// A missingError is ErrNotFound with the code of what is missing.
type missingError string

func (e missingError) Error() string {
	return fmt.Sprintf("%v: it says %s", objects.ErrNotFound, protocol.CleanText(string(e), 60))
}

func (missingError) Unwrap() error { return objects.ErrNotFound }

// notFound is the error of a 404 that need not be the store's. It shows what the answer says of
// itself.
func (b *bucket) notFound(op string, a *answerError) error {
	cause := objects.ErrNotFound
	if !a.saysNothing() {
		cause = missingError(a.code)
	}
	return b.fail(protocol.Unreachable, op, cause, "look at the endpoint, and at what is between here and the store, then try again")
}

// failed says what became of a request: ErrAbsent, ErrExists, the code unreachable if it may
// have been executed or may be yet, or why the store refuses it.
func (b *bucket) failed(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %s: %w", b.address, op, ctx.Err())
	}
	if errors.As(err, new(backend.TooLongError)) {
		return b.tooLong(op, err)
	}
	var answer *smithyhttp.ResponseError
	// A service that is asked for credentials answers, too; its 404 says nothing about an
	// object. A success that cannot be read was cut short on its way.
	if isUnsigned(err) || !errors.As(err, &answer) || answer.HTTPStatusCode() == 0 || answer.HTTPStatusCode()/100 == 2 {
		return &backend.Error{Code: protocol.Unreachable, Lock: b.address.String(), Op: op, Err: shortened(err), Hint: b.unreached(err), Lasts: b.lasts(err)}
	}
	a := &answerError{status: answer.HTTPStatusCode()}
	var api smithy.APIError
	if errors.As(err, &api) {
		a.code, a.message = api.ErrorCode(), api.ErrorMessage()
	}
	switch {
	case a.code == noSuchKey:
		return objects.ErrAbsent
	case a.status == http.StatusNotFound && a.code != noSuchBucket && !a.isAboutCredentials():
		return b.notFound(op, a)
	case a.status == http.StatusPreconditionFailed:
		return objects.ErrExists
	}
	code, hint := b.judge(a, answer.Response)
	return b.fail(code, op, a, hint)
}

// tooLong is the error of a request that got more than a listing may have. It leaves any other
// error as it is.
func (b *bucket) tooLong(op string, err error) error {
	if tooLong, is := errors.AsType[backend.TooLongError](err); is {
		return b.address.Name().TooLong(op, tooLong)
	}
	return err
}

// judge decides what an answer means for the lock.
func (b *bucket) judge(a *answerError, r *smithyhttp.Response) (protocol.Code, string) {
	switch {
	case a.code == "RequestTimeTooSkewed":
		return protocol.Permission, "set the clock of this machine" + off(r)
	case a.code == noSuchBucket:
		return protocol.CannotCreate, "make the bucket first, or correct its name"
	case a.isAboutCredentials():
		return protocol.Permission, credentialsHint
	case a.code == "ObjectParentIsFile":
		return protocol.CannotCreate, "an object has the name of a part of the prefix: choose another prefix"
	case b.wantedRegion(a, r) != "":
		region := b.wantedRegion(a, r)
		return protocol.CannotCreate, "the bucket is in region " + region + ": write " + backend.ShellWord(b.inRegion(region))
	case a.status/100 == 3, a.code == "AuthorizationHeaderMalformed":
		return protocol.CannotCreate, "the bucket is elsewhere: add its region to the address, as in '?region=eu-central-1', or its store's '?endpoint=https://host'"
	case a.status == http.StatusNotImplemented:
		return protocol.CannotCreate, "the store does not know such requests: choose another one"
	case a.code == "RequestTimeout":
		return protocol.Unreachable, "try again later"
	case a.status == http.StatusForbidden, a.status == http.StatusUnauthorized:
		return protocol.Permission, "look at the credentials (AWS_PROFILE, AWS_ACCESS_KEY_ID, ~/.aws), and let them read, write, list and delete below the prefix"
	case a.status == http.StatusConflict, a.status == http.StatusTooManyRequests, a.status == http.StatusRequestTimeout, a.status/100 == 5:
		return protocol.Unreachable, "try again later"
	}
	return protocol.CannotCreate, "see what this store can do with: locksmith doctor " + backend.ShellWord(b.address.String())
}

const credentialsHint = "correct the credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE and ~/.aws; and see that they are for this store"

// isAboutCredentials reports whether the store does not know who asks. Stores say so with 403,
// 400 or 404, and it concerns no object.
func (e *answerError) isAboutCredentials() bool {
	switch e.code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidSecurity", "InvalidClientTokenId", "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
		return true
	}
	return false
}

// expecting comes, in a store's message, before the region that the store wants.
var expecting = regexp.MustCompile(`expecting '([A-Za-z0-9_-]{1,64})'`)

// wantedRegion is the region that the store names as the bucket's, if a request was for another,
// or "". The address's own region is no advice: then the endpoint is wrong.
func (b *bucket) wantedRegion(a *answerError, r *smithyhttp.Response) (region string) {
	misplaced := a.status/100 == 3 || a.code == "AuthorizationHeaderMalformed"
	if !misplaced {
		return ""
	}
	if named := expecting.FindStringSubmatch(a.message); named != nil {
		region = named[1]
	}
	if r != nil && isRegion(r.Header.Get("X-Amz-Bucket-Region")) {
		region = r.Header.Get("X-Amz-Bucket-Region")
	}
	if region == b.options.region {
		return ""
	}
	return region
}

// inRegion is the address with another region.
func (b *bucket) inRegion(region string) string {
	a := b.address
	a.Options = maps.Clone(a.Options)
	if a.Options == nil {
		a.Options = map[string]string{}
	}
	a.Options["region"] = region
	return a.String()
}

// off says by how much our clock is wrong, if the answer tells the time.
func off(r *smithyhttp.Response) string {
	if r == nil {
		return ""
	}
	there, err := http.ParseTime(r.Header.Get("Date"))
	if err != nil {
		return ""
	}
	d := time.Since(there).Round(time.Second)
	if d < 0 {
		return fmt.Sprintf(": it is %v behind the store's", -d)
	}
	return fmt.Sprintf(": it is %v ahead of the store's", d)
}

// lasts reports whether a request had no answer, and another like it will have none: there are
// no credentials, or no such host, or a host whose certificate is not trusted. If there were
// credentials before, they have run out, and whoever renews them may be away for a while.
func (b *bucket) lasts(err error) bool {
	if isUnsigned(err) && b.signed.Load() {
		return false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.IsNotFound
	}
	return isUnsigned(err) || errors.As(err, new(*tls.CertificateVerificationError))
}

// unreached is what to do if there is no answer.
func (b *bucket) unreached(err error) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && b.options.endpoint != "" && !b.options.pathStyle:
		return "add ?path=style if the bucket is no part of the host's name there"
	case errors.As(err, &dns):
		return "correct the endpoint or the region, or look at the network"
	case isUnsigned(err):
		return "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or see ~/.aws"
	}
	return "look at the store and the network, then try again"
}

// A sentError is the error of a request that was signed and sent to the store.
type sentError struct{ error }

func (e sentError) Unwrap() error { return e.error }

// markSent lets the library's errors tell whether the store is to blame.
func (b *bucket) markSent(s *middleware.Stack) error {
	return s.Deserialize.Add(middleware.DeserializeMiddlewareFunc("markSent",
		func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (out middleware.DeserializeOutput, m middleware.Metadata, err error) {
			b.signed.Store(true)
			if out, m, err = next.HandleDeserialize(ctx, in); err != nil {
				err = sentError{err}
			}
			return out, m, err
		}), middleware.Before)
}

// isUnsigned reports whether a request was not sent because there were no credentials to sign
// it.
func isUnsigned(err error) bool {
	return errors.As(err, new(*smithy.OperationError)) && !errors.As(err, new(sentError))
}

// shortened is an error without what the library says about itself.
func shortened(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v", requestTime)
	}
	var send *smithyhttp.RequestSendError
	if errors.As(err, &send) {
		err = send.Err
		if request, ok := errors.AsType[*url.Error](err); ok { // the address says where, and the operation what
			err = request.Err
		}
		return err
	}
	var unread *smithy.DeserializationError
	if errors.As(err, &unread) {
		return fmt.Errorf("the answer cannot be read: %w", unread.Err)
	}
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		return operation.Err
	}
	return err
}
