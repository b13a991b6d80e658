package backend

// Access is what a server asks for and an address does not say.
type Access struct {
	// Password returns the password of a user at a host (as in Address), ""
	// for none. It is called at every log in. Nil stands for none.
	Password func(user, host string) (string, error)
	// CA is a file with the certificates to trust, in PEM, instead of the
	// system's.
	CA string
	// Insecure accepts any certificate: whoever sits between us and the server
	// can read the password and invent answers.
	Insecure bool
}
