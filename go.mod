module locksmith

go 1.26.0

require (
	github.com/BurntSushi/toml v1.6.0
	github.com/git-lfs/go-netrc v0.0.0-20250218165306-ba0029b43d11
	github.com/hashicorp/go-hclog v1.6.3
	github.com/jlaffaye/ftp v0.2.4
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
)

// Tests only.
require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/creack/pty v1.1.24
	github.com/fclairamb/ftpserverlib v0.32.3
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/afero v1.15.0
)

// Checks only.
tool honnef.co/go/tools/cmd/staticcheck

require (
	github.com/fatih/color v1.13.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mattn/go-colorable v0.1.12 // indirect
	github.com/mattn/go-isatty v0.0.14 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/text v0.28.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	honnef.co/go/tools v0.8.2 // indirect
)
