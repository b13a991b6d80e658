package s3server

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// StartForUser starts a versitygw of 1.8.0 with a second user, whose credentials are in the
// environment that it returns. May says what that user may do there.
func StartForUser(t testing.TB) (s *Server, environment []string) {
	t.Helper()
	const kind, name, secretOfUser = "versitygw-1.8.0", "guest", "guest's secret"
	users := t.TempDir()
	list, err := json.Marshal(map[string]any{"accessAccounts": map[string]any{
		name: map[string]string{"access": name, "secret": secretOfUser, "role": "user"},
	}})
	if err == nil {
		err = os.WriteFile(filepath.Join(users, "users.json"), list, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return start(t, kind, withBucket(t), users), []string{"AWS_ACCESS_KEY_ID=" + name, "AWS_SECRET_ACCESS_KEY=" + secretOfUser}
}

// May lets the second user list the bucket, do the given actions to its objects, such as
// s3:GetObject, and nothing else.
func (s *Server) May(t testing.TB, actions ...string) {
	t.Helper()
	type statement struct {
		Effect, Principal, Resource string
		Action                      []string
	}
	const bucket = "arn:aws:s3:::" + Bucket
	policy, err := json.Marshal(map[string]any{"Statement": []statement{
		{"Allow", "*", bucket, []string{"s3:ListBucket"}}, {"Allow", "*", bucket + "/*", actions},
	}})
	if err == nil {
		_, err = s.client().PutBucketPolicy(context.Background(), &s3.PutBucketPolicyInput{Bucket: aws.String(Bucket), Policy: aws.String(string(policy))})
	}
	if err != nil {
		t.Fatal(err)
	}
}
