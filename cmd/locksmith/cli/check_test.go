package cli

import (
	"testing"

	"locksmith/protocol"
)

func TestCompareToken(t *testing.T) {
	for _, c := range []struct {
		token, newest uint64
		code          protocol.Code
	}{{1, 1, ""}, {7, 7, ""}, {1, 0, protocol.Gone}, {1, 2, protocol.Gone}, {3, 2, protocol.Gone}} {
		err := compareToken("nfs:/lock", c.token, c.newest)
		if (err == nil) != (c.code == "") || err != nil && codeOf(err) != c.code {
			t.Errorf("check of token %d, with %d the newest: %v", c.token, c.newest, err)
		}
	}
}
