package s3server

import (
	"os"
	"slices"
	"strings"
)

// The only user of all servers. Some look neither at the name nor at the secret; s3rver knows
// this name only.
const access, secret = "S3RVER", "S3RVER's secret"

// environment has the variables in which programs for such stores find their credentials, and no
// other variables.
var environment = map[string]string{
	"AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret, "AWS_EC2_METADATA_DISABLED": "true",
	"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "", "AWS_REGION": "",
}

// SetEnvironment makes this process, and the processes that it starts, find the credentials. It
// is for a TestMain.
func SetEnvironment() {
	for name, value := range environment {
		_ = os.Setenv(name, value)
	}
}

// Foreign returns the environment for programs that are to know nothing of this user. Stores are
// such programs: some of them use the same library.
func Foreign() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
}
