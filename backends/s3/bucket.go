package s3

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

const (
	// requestTime is how long one request may take.
	requestTime = 10 * time.Second
	// idleTime is how long a connection is kept for the next request. Stores close connections
	// when they like, and a request on such a connection has no answer.
	idleTime = 4 * time.Second
	// usualRegion is signed if nobody names a region, for which many stores do not care.
	usualRegion = "us-east-1"
)

// A bucket is where locks are, and how to get there.
type bucket struct {
	address backend.Address
	options options
	access  backend.Access
	// client is made at the first request. Its error is a *backend.Error.
	client func() (*s3.Client, error)
	signed *atomic.Bool // a request was signed: there are credentials, or there were
	keys   *renewable
}

func newBucket(a backend.Address, o options, access backend.Access) *bucket {
	b := &bucket{address: a, options: o, access: access, signed: new(atomic.Bool), keys: &renewable{load: load}}
	b.client = sync.OnceValues(b.connect)
	return b
}

// name is the bucket's.
func (b *bucket) name() *string { return aws.String(b.address.Host) }

// load reads the configuration for object stores, as all programs with this library do.
func load(ctx context.Context) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{
		// The library's own kind of HTTP client: with another kind it refuses AWS_CA_BUNDLE.
		config.WithHTTPClient(awshttp.NewBuildableClient()),
		config.WithLogger(logging.Nop{}), // else it writes to our standard error
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	switch p, role := programOf(loaded); {
	case err != nil || p == "":
	case role:
		loaded, err = config.LoadDefaultConfig(ctx, append(options, config.WithAssumeRoleCredentialOptions(p.assume))...)
	default:
		loaded.Credentials = aws.NewCredentialsCache(p)
	}
	return loaded, err
}

// connect makes the library's client. It reads configuration, and sends nothing yet.
func (b *bucket) connect() (*s3.Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	loaded, err := load(ctx)
	if err != nil {
		return nil, b.fail(protocol.Config, "read the configuration for object stores", err, "see ~/.aws, and the variables whose names begin with AWS_")
	}
	if b.options.region != "" {
		loaded.Region = b.options.region
	}
	if loaded.Region == "" {
		loaded.Region = usualRegion
	}
	buildable, ok := loaded.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		return nil, b.fail(protocol.Internal, "connect", fmt.Errorf("the library's client is a %T", loaded.HTTPClient), "report this as a fault of locksmith")
	}
	transport := buildable.GetTransport()
	if err := b.adjust(transport); err != nil {
		return nil, b.fail(protocol.Config, "read certificates", err, "name a file with certificates in PEM")
	}
	b.keys.now, loaded.Credentials = loaded.Credentials, b.keys
	return s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.HTTPClient = single(transport)
		o.APIOptions = append(o.APIOptions, b.markSent)
		o.Retryer = aws.NopRetryer{} // a repeated request takes its own first success for another's
		o.UsePathStyle = b.options.pathStyle
		if b.options.endpoint != "" {
			o.BaseEndpoint = aws.String(b.options.endpoint)
		}
		// Many stores do not know the checksums that Amazon's takes.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}), nil
}

// single is a client that follows no redirect, because that would be a second request.
func single(t *http.Transport) *http.Client {
	return &http.Client{Transport: brief{t}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// A brief transport reads no more of an answer than a listing may have, because the library
// keeps all of it.
type brief struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (t brief) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Transport.RoundTrip(r)
	if err == nil {
		answer.Body = &body{answer.Body, backend.NewHaul()}
	}
	return answer, err
}

type body struct {
	io.ReadCloser
	haul *backend.Haul
}

// beginsItem begins what the library keeps a name for: Contents, CommonPrefixes.
var beginsItem = []byte("<Co")

// Read implements io.Reader.
func (b *body) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if tooLong := b.haul.Take(bytes.Count(to[:n], beginsItem), n); tooLong != nil {
		return 0, tooLong
	}
	return n, err
}

// adjust settles whom a transport trusts, and how long it keeps connections.
func (b *bucket) adjust(transport *http.Transport) error {
	transport.IdleConnTimeout = idleTime
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	transport.TLSClientConfig.InsecureSkipVerify = b.access.Insecure
	roots, err := b.access.Roots()
	if err != nil {
		return err
	}
	if roots != nil { // else those of AWS_CA_BUNDLE stay
		transport.TLSClientConfig.RootCAs = roots
	}
	return nil
}
