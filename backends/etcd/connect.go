package etcd

import (
	"context"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"

	"locksmith/backends/backend"
	"locksmith/backends/servers"
	"locksmith/protocol"
)

const (
	idle, answer = 10 * time.Second, 3 * time.Second // a connection that is silent is asked whether it lives; the library allows no less
	lastPause    = 3 * time.Second                   // before a member is connected to again
	unused       = time.Minute                       // is how long a connection stays that no request and no watch uses
)

// connect returns the library's client of some members. With a user it logs in, else it sends nothing.
func (c *cluster) connect(ctx context.Context, hosts []string) (*clientv3.Client, error) {
	o := clientv3.Config{Username: c.address.User, Logger: zap.NewNop(), DialTimeout: answer, MaxUnaryRetries: 2, DialKeepAliveTime: idle, DialKeepAliveTimeout: answer, MaxCallRecvMsgSize: backend.MaxBytes}
	first, scheme, err := c.address, "http://", error(nil)
	if c.address.Options["tls"] == "yes" {
		scheme = "https://"
		if o.TLS, err = c.access.TLS(); err != nil {
			return nil, c.Failure(protocol.Config, "read certificates", err, "name files with certificates in PEM")
		}
	}
	first.Host = c.address.Hosts()[0] // names the password
	if o.Password, _, err = servers.Password(first, c.access); err != nil {
		return nil, err
	} else if o.Username != "" && o.Password == "" {
		return nil, c.Failure(protocol.Permission, "log in", fmt.Errorf("no password is known for user %s", backend.Quoted(o.Username)), "write it to a file with mode 0600, and name that as password_file in a profile")
	}
	for _, host := range hosts {
		if !strings.Contains(host[strings.LastIndexByte(host, ']')+1:], ":") {
			host += ":2379"
		}
		o.Endpoints = append(o.Endpoints, scheme+host)
	}
	pauses := grpcbackoff.DefaultConfig
	pauses.BaseDelay, pauses.MaxDelay = lastPause/30, lastPause
	o.DialOptions = []grpc.DialOption{grpc.WithIdleTimeout(unused), grpc.WithConnectParams(grpc.ConnectParams{Backoff: pauses, MinConnectTimeout: answer}),
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, q, a any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
			return invoke(ctx, method, q, a, conn, append(options, grpc.WaitForReady(false))...) // tells at once, and why
		})}
	client, err := clientv3.New(o)
	if err != nil {
		return nil, c.failed(ctx, "log in", err)
	}
	return client, nil
}

// hints tell what to do about errors, by what they say. What lasts somebody must correct first.
var hints = []struct {
	says  string
	code  protocol.Code
	lasts bool
	hint  string
}{
	{"unexpected HTTP status code", protocol.Unreachable, false, "look at what answers in its place, such as a proxy, and at the port"},
	{"HTTP/1.1 header", protocol.Unreachable, false, "look at what answers in its place, such as a proxy, and at the port"},
	{"does not look like a TLS handshake", protocol.Unreachable, true, "leave out ?tls=yes: the server speaks in the clear"},
	{"certificate required", protocol.Unreachable, true, "name a file with a certificate and its key as certificate in a profile, or in $LOCKSMITH_CERTIFICATE"},
	{"x509: ", protocol.Unreachable, true, "name the file with its certificates with --ca, or correct the host's name"},
	{"no such host", protocol.Unreachable, true, "correct the host's name, or look at the network"},
	{"server preface", protocol.Unreachable, false, "look at the port; and if the server wants TLS, add ?tls=yes"},
	{"user name is empty", protocol.Permission, false, "name a user in the address, as in etcd://USER@host/prefix"},
	{"authentication failed", protocol.Permission, false, "correct the user's name or the password"},
	{"invalid auth token", protocol.Permission, false, "correct the user's name or the password"},
	{"permission denied", protocol.Permission, false, "let the user read and write below the prefix: etcdctl role grant-permission --prefix=true ROLE readwrite PREFIX/"},
	{"database space exceeded", protocol.CannotCreate, false, "make space there: etcdctl compact, etcdctl defrag, and then etcdctl alarm disarm"},
	{"request is too large", protocol.CannotCreate, false, "shorten the metadata"},
	{"larger than max", protocol.CannotCreate, false, "keep the lock below a prefix with less in it"},
}
