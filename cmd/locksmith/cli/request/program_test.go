package request

import "testing"

func TestScheme(t *testing.T) {
	for address, want := range map[string]string{
		"s3://bucket/x": "s3", "demo:/x": "demo", "a+b.c-d:": "a+b.c-d", "demo": "", ":/x": "", "Demo:/x": "", "3s:/x": "",
		"../demo:/x": "", "a b:/x": "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:/x": "",
	} {
		if got, ok := schemeOf(address); ok != (want != "") || ok && got != want {
			t.Errorf("schemeOf %s is %q, %t", address, got, ok)
		}
	}
}
