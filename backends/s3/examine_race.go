package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"locksmith/backends/doctor"
	"locksmith/backends/generation/objects"
)

const (
	// racers is how many create the same object at a time.
	racers = 32
	// maxBad is how many bad rounds are enough to tell how bad the store is.
	maxBad = 20
	// maxSilent is how many rounds may have no answer.
	maxSilent = 10
)

// race has 32 racers create the same object at the same time, each over its own connection. One
// must succeed, and its content must be there. Nothing else tells an unfit store: those that
// were seen failed in 16 to 100 of 100 rounds.
func (x *examiner) race(ctx context.Context) error {
	const name = "many create the same"
	lanes, err := x.lanes(ctx, racers)
	if err != nil {
		return err
	}
	bad, silent, most, last := 0, 0, 0, ""
	rounds := 0
	for ; rounds-silent < x.rounds && bad < maxBad && ctx.Err() == nil; rounds++ {
		if x.progress != nil {
			x.progress(fmt.Sprintf("%s: %d of %d rounds", name, rounds-silent, x.rounds))
		}
		winners, clear, content, err := x.round(ctx, lanes)
		most = max(most, winners)
		switch {
		case winners > 1:
			bad, last = bad+1, fmt.Sprintf("up to %d of %d succeeded", most, racers)
		case content != "":
			bad, last = bad+1, "the winner's content was not there: "+content
		case !clear: // another may have succeeded
			if silent++; silent > maxSilent {
				return err
			}
		case winners == 0:
			bad, last = bad+1, "none succeeded"
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case bad > 0:
		x.Tell.Unfit(name, fmt.Sprintf("in %d of %d rounds %s: several would hold the lock", bad, rounds, last), otherStore)
	case rounds == 0:
		x.Tell.Unknown(name, "no round was run", "try again, with --rounds 200")
	default:
		// The rule of three: the upper limit, at 95 %, of the rate of what was never seen.
		x.Tell.Fit(name, fmt.Sprintf("in each of %d rounds one of %d succeeded, and its content was there; so with 95 %% confidence fewer than %.2g %% of such rounds go wrong (--rounds makes surer)",
			rounds-silent, racers, 300/float64(rounds-silent)))
	}
	return nil
}

// round is one race. clear says that everybody had an answer. wrong is what is there instead of
// the winner's content, or "".
func (x *examiner) round(ctx context.Context, lanes []store) (winners int, clear bool, wrong string, err error) {
	key := x.Fresh()
	results := doctor.Together(len(lanes), func(i int) error { return lanes[i].Create(ctx, key, []byte(fmt.Sprint(i))) })
	clear = true
	winner := ""
	for i, result := range results {
		switch {
		case result == nil:
			winners, winner = winners+1, fmt.Sprint(i)
		case !errors.Is(result, objects.ErrExists):
			clear, err = false, result
		}
	}
	if winners == 1 {
		_, content, readErr := x.Get(ctx, key)
		switch {
		case errors.Is(readErr, objects.ErrAbsent):
			wrong = "there is none"
		case readErr != nil:
			return 0, false, "", readErr
		case string(content) != winner:
			wrong = "another's"
		}
	}
	_ = x.Delete(ctx, key) // else it goes with all the rest
	return winners, clear, wrong, err
}

// lanes are ways to the store, each with its own connection, over all addresses that the store's
// name has.
func (x *examiner) lanes(ctx context.Context, n int) ([]store, error) {
	client, err := x.bucket.client()
	if err != nil {
		return nil, err
	}
	addresses := x.addresses(ctx, client)
	shared := client.Options().HTTPClient.(*http.Client).Transport.(brief)
	var lanes []store
	for i := range n {
		lane := *x.bucket
		own := shared.Clone()
		if len(addresses) > 0 {
			own.DialContext = dialTo(addresses[i%len(addresses)])
		}
		// Made here, one after the other, because the options share what New writes to.
		of := s3.New(client.Options(), func(o *s3.Options) { o.HTTPClient = single(own) })
		lane.client = func() (*s3.Client, error) { return of, nil }
		lanes = append(lanes, store{&lane, x.store.prefix})
	}
	return lanes, nil
}

// dialTo connects to one address, whatever the name is.
func dialTo(ip string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(ip, port))
	}
}

// addresses returns the endpoint's addresses at which somebody listens, if there are several.
// There are none through a proxy, which asks for names itself. A client that finds nobody at one
// address goes to the others: localhost mostly has an address for IPv6, too.
func (x *examiner) addresses(ctx context.Context, client *s3.Client) (listening []string) {
	endpoint := aws.ToString(client.Options().BaseEndpoint)
	u, err := url.Parse(endpoint)
	if endpoint == "" || err != nil {
		return nil
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err != nil || proxy != nil {
		return nil
	}
	all, err := net.DefaultResolver.LookupHost(ctx, u.Hostname())
	if err != nil || len(all) < 2 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	for i, err := range doctor.Together(len(all), func(i int) error { return listens(ctx, all[i], u) }) {
		if err == nil {
			listening = append(listening, all[i])
		}
	}
	return listening
}

// listens returns no error if a connection can be made to an address, for a URL.
func listens(ctx context.Context, ip string, u *url.URL) error {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(ip, port))
	if err == nil {
		_ = conn.Close()
	}
	return err
}
