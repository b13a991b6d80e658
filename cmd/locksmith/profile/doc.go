// Package profile knows what an address does not say: the name under which a
// lock and its settings are kept in a file, and the password of a server.
//
// A profile is a table of a file in TOML:
//
//	[phonestuff]
//	lock = "ftps://alice@ftp.example.org/locks/phonestuff"
//	timeout = "5m"
//	password_file = "~/.config/locksmith/phonestuff.password"
//
// Resolve takes a name or an address; what it returns has the lock's address,
// the settings, and what a server is told. Nothing secret is read before a
// server asks for it.
//
// Every error has the code config, and names the file, the cause and what to
// do. None of them shows a value, or a line of a file: what stands in the wrong
// place may be a password. For the same reason what a library says about a file
// is not passed on, but for which key is there twice.
//
// What is read must be a regular file of ours or root's. Nobody else may write
// to a file of profiles, or read one with passwords. That is looked up on the
// open file, so that it holds for what is read.
package profile
