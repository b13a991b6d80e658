package s3server

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Keys returns the keys of all objects below a prefix that ends in a slash, without that prefix.
func (s *Server) Keys(t testing.TB, prefix string) (keys []string) {
	t.Helper()
	pages := s3.NewListObjectsV2Paginator(s.client(), &s3.ListObjectsV2Input{Bucket: aws.String(Bucket), Prefix: aws.String(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, strings.TrimPrefix(aws.ToString(o.Key), prefix))
		}
	}
	return keys
}

// Remove removes an object.
func (s *Server) Remove(t testing.TB, key string) {
	t.Helper()
	if _, err := s.client().DeleteObject(context.Background(), &s3.DeleteObjectInput{Bucket: aws.String(Bucket), Key: aws.String(key)}); err != nil {
		t.Fatal(err)
	}
}

// Put writes an object.
func (s *Server) Put(t testing.TB, key, text string) {
	t.Helper()
	if _, err := s.client().PutObject(context.Background(), &s3.PutObjectInput{Bucket: aws.String(Bucket), Key: aws.String(key), Body: strings.NewReader(text)}); err != nil {
		t.Fatal(err)
	}
}

// client returns the library's client, with everything that it does by itself.
func (s *Server) client() *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(s.Endpoint), UsePathStyle: true, Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: access, SecretAccessKey: secret}, nil
		}),
	})
}
