package s3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"locksmith/backends/process"
)

// renewable credentials are read anew when the store refuses them. Those that tell when they expire
// are renewed before by the library's cache. Others, such as those that a login writes into
// ~/.aws/credentials for some hours, may have been written anew since we began.
type renewable struct {
	load func(context.Context) (aws.Config, error)

	mu   sync.Mutex
	now  aws.CredentialsProvider
	used aws.Credentials // in the last request
}

// Retrieve implements aws.CredentialsProvider.
func (r *renewable) Retrieve(ctx context.Context) (aws.Credentials, error) {
	r.mu.Lock()
	now := r.now
	r.mu.Unlock()
	c, err := now.Retrieve(ctx)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.used = c
	}
	return c, err
}

// renew reports whether there are other credentials now than the store has refused.
func (r *renewable) renew(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	loaded, err := r.load(ctx)
	if err != nil || loaded.Credentials == nil {
		return false
	}
	c, err := loaded.Credentials.Retrieve(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || c.AccessKeyID == r.used.AccessKeyID && c.SecretAccessKey == r.used.SecretAccessKey && c.SessionToken == r.used.SessionToken {
		return false
	}
	r.now = loaded.Credentials
	return true
}

// A program gives credentials: it is the credential_process of a profile. The library would run it
// as any child of ours, for which the reaper of run's command takes it, and its status with it.
type program string

const (
	// programTime is how long a program may take; the library's own gives it as long. Requests do
	// not wait for it that long.
	programTime = time.Minute
	// maxCredentials is more than a program has to say, in bytes.
	maxCredentials = 64 << 10
)

// programOf returns the program that gives a configuration's credentials, or "". role: with these a role
// is assumed, or one after another.
func programOf(c aws.Config) (p program, role bool) {
	if !isOfProgram(c.Credentials) {
		return "", false
	}
	for _, source := range c.ConfigSources {
		if shared, ok := source.(config.SharedConfig); ok {
			from := &shared
			for from.Source != nil {
				from = from.Source
			}
			return program(from.CredentialProcess), shared.Source != nil
		}
	}
	return "", false
}

// isOfProgram reports whether credentials come from a program, at first.
func isOfProgram(c aws.CredentialsProvider) bool {
	from, ok := c.(aws.CredentialProviderSource)
	return ok && slices.Contains(from.ProviderSources(), aws.CredentialSourceProcess)
}

// assume lets the library assume a role with the program's credentials. In a row of roles that is the
// first: the others are assumed with those of the role before.
func (p program) assume(o *stscreds.AssumeRoleOptions) {
	client, ok := o.Client.(*sts.Client)
	if !ok {
		return
	}
	from, ok := client.Options().Credentials.(aws.CredentialProviderSource)
	if ok && isOfProgram(client.Options().Credentials) && !slices.Contains(from.ProviderSources(), aws.CredentialSourceSTSAssumeRole) {
		o.Client = sts.New(client.Options(), func(s *sts.Options) { s.Credentials = aws.NewCredentialsCache(p) })
	}
}

// Retrieve implements aws.CredentialsProvider. Its errors show nothing that the program wrote to its
// standard output.
func (p program) Retrieve(ctx context.Context) (aws.Credentials, error) {
	out, err := p.run(ctx)
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("run the credential_process: %w", err)
	}
	c, err := readCredentials(out)
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("read what the credential_process wrote: %w", err)
	}
	return c, nil
}

// run runs the program, and returns its output. As in the library's programs it has our standard
// input and error, to ask its user there.
func (p program) run(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd.exe", "/C"}
	}
	out := &bounded{}
	cmd := exec.CommandContext(ctx, shell[0], shell[1], string(p))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out, os.Stderr
	cmd.WaitDelay = time.Second // what it has started may keep its standard output
	if err := process.Start(cmd); err != nil {
		return nil, err
	}
	if err := process.Wait(cmd); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	return out.text, nil
}

// A bounded text refuses what is too long for credentials.
type bounded struct{ text []byte }

// Write implements io.Writer.
func (b *bounded) Write(text []byte) (int, error) {
	if len(b.text)+len(text) > maxCredentials {
		return 0, fmt.Errorf("it wrote more than %d bytes", maxCredentials)
	}
	b.text = append(b.text, text...)
	return len(text), nil
}

// readCredentials reads what a program wrote. The form is Amazon's ("Sourcing credentials with an
// external process" in the guide of the AWS CLI).
func readCredentials(text []byte) (aws.Credentials, error) {
	var said struct {
		Version                                    int
		AccessKeyId, SecretAccessKey, SessionToken string
		AccountId                                  string
		Expiration                                 *time.Time
	}
	switch err := json.Unmarshal(text, &said); {
	case err != nil:
		return aws.Credentials{}, errors.New("it is not the JSON of a credential_process") // err may show a part of it
	case said.Version != 1:
		return aws.Credentials{}, errors.New("its Version is not 1")
	case said.AccessKeyId == "" || said.SecretAccessKey == "":
		return aws.Credentials{}, errors.New("it lacks AccessKeyId or SecretAccessKey")
	}
	c := aws.Credentials{Source: "credential_process", AccessKeyID: said.AccessKeyId, SecretAccessKey: said.SecretAccessKey,
		SessionToken: said.SessionToken, AccountID: said.AccountId}
	if said.Expiration != nil {
		c.CanExpire, c.Expires = true, *said.Expiration
	}
	return c, nil
}
