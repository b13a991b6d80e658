package cli

import (
	"fmt"
	"os"
	"strings"

	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/protocol"
)

// offer shows who is there, and how to break each.
func (b *breaking) offer(s lockStatus) error {
	for _, p := range s.all() {
		how := "it has no id: nothing but removing it by hand ends it"
		switch {
		case p.ID != "":
			how = b.command("--id", p.ID)
		case p.Sign != "":
			how = b.command("--force")
		}
		fmt.Fprintf(os.Stderr, "%s: %s [%s]\n    %s\n", protocol.CleanText(b.address, protocol.MaxLine), p, p.Verdict, protocol.CleanText(how, protocol.MaxLine))
	}
	if len(s.all()) == 0 {
		return flags.Usagef("%s: --id is missing, and nobody is there who could have it: the lock is free", b.address)
	}
	return flags.Usagef("--id is missing: it says who of those above is meant")
}

// command is the command line that breaks one of them, whom more says.
func (b *breaking) command(more ...string) string {
	words := []string{"locksmith", "break"}
	if b.Insecure {
		words = append(words, "--insecure")
	}
	if b.CA != "" {
		words = append(words, "--ca", b.CA)
	}
	if b.Path != "" {
		words = append(words, "--for", b.Path)
	}
	words = append(append(words, b.args...), more...)
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// plainChars are those that a shell leaves alone everywhere in a word.
const plainChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if word != "" && strings.Trim(word, plainChars) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
