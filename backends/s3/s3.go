package s3

import (
	"errors"
	"net/url"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/generation/objects"
	"locksmith/backends/owner"
)

// A lock is the objects below one prefix of a bucket. It implements backend.Backend.
type lock struct {
	objects.Lock
	bucket *bucket
	path   string // "" for a whole bucket, which is a place and no lock; else it ends in a slash
}

// Open returns the lock at an address of this scheme. It does not connect yet. Its errors are
// *backend.Error.
func Open(a backend.Address, access backend.Access) (backend.Backend, error) {
	o, err := parseOptions(a)
	if err == nil {
		err = checkBucket(a)
	}
	if err != nil {
		return nil, a.Wrong(err, "write s3://bucket/prefix, and perhaps ?endpoint=https://host&region=name&path=style")
	}
	b := newBucket(a, o, access)
	path := strings.TrimPrefix(a.Path, "/")
	if path != "" {
		path += "/"
	}
	return b.lock(a.String(), path), nil
}

func (b *bucket) lock(address, path string) *lock {
	return &lock{bucket: b, path: path, Lock: objects.Lock{
		Env: owner.NewEnv(), Store: store{b, path}, Address: backend.Name(address),
	}}
}

// Key is what is the same for all spellings of a lock's address.
func Key(a backend.Address) string {
	return a.Scheme + "://" + a.Host + a.Path + " " + a.Options["endpoint"]
}

// maxPath leaves room for the names of objects in the 1024 bytes that keys may have.
const maxPath = 900

func checkBucket(a backend.Address) error {
	const plain = "abcdefghijklmnopqrstuvwxyz0123456789.-_"
	switch {
	case a.User != "":
		return errors.New("it names a user: credentials are found as by all programs for such stores, in the environment or in ~/.aws")
	case strings.Trim(a.Host, plain) != "":
		return errors.New("the bucket's name may have letters, digits, dots and hyphens")
	case strings.HasPrefix(a.Path, "//"):
		return errors.New("the prefix begins with a slash")
	case len(a.Path) > maxPath:
		return errors.New("the prefix is too long")
	}
	return nil
}

// options are an address's options.
type options struct {
	endpoint  string
	region    string
	pathStyle bool
}

func parseOptions(a backend.Address) (o options, err error) {
	for key, value := range a.Options {
		switch key {
		case "endpoint":
			o.endpoint = value
			u, bad := url.Parse(value)
			if bad != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
				return o, errors.New("option endpoint is not of the form https://host:port")
			}
		case "region":
			o.region = value
			if !isRegion(value) {
				return o, errors.New("option region is no name of a region")
			}
		case "path":
			if o.pathStyle = value == "style"; !o.pathStyle {
				return o, errors.New("option path may be style")
			}
		default:
			return o, errors.New("an option is not known: there are endpoint, region and path")
		}
	}
	return o, nil
}

func isRegion(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}
