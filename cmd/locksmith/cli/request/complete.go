package request

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/profile"
	"locksmith/protocol"
)

// Shells ask us what a word may become; see locksmith completion.

const (
	noFiles = cobra.ShellCompDirectiveNoFileComp
	goesOn  = noFiles | cobra.ShellCompDirectiveNoSpace // the word goes on
)

// CompleteLock offers what a LOCK may begin with: names of profiles, kinds of locks, and what is
// there after a kind of the file system.
func (c *Connect) CompleteLock(command *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if f := command.Flags().Lookup("for"); f != nil && f.Value.String() != "" {
		return c.beginnings(begun, func(kind string, inFiles bool) string {
			if inFiles {
				return kind + ":"
			}
			return ""
		}), noFiles
	}
	if kind, path, ok := strings.Cut(begun, ":"); ok {
		return completePath(kind, path), goesOn
	}
	kinds := c.beginnings(begun, func(kind string, inFiles bool) string {
		if inFiles {
			return kind + ":/"
		}
		return kind + "://"
	})
	directive := noFiles
	if len(kinds) > 0 {
		directive = goesOn
	}
	return append(profiles(begun), kinds...), directive
}

// CompleteMember is CompleteLock for a lock that may have its mode before it.
func (c *Connect) CompleteMember(command *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	mode, rest := cutMode(begun)
	if mode == "" {
		return c.CompleteLock(command, args, begun)
	}
	words, directive := c.CompleteLock(command, args, rest)
	for i := range words {
		words[i] = mode + ":" + words[i]
	}
	return words, directive
}

// Commands offers the programs on PATH that a word may become.
func Commands(begun string) (all []cobra.Completion) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(dir) // as much as there is
		for _, e := range entries {
			if st, err := os.Stat(filepath.Join(dir, e.Name())); offers(e.Name(), begun) && err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
				all = append(all, e.Name())
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// beginnings are the kinds of locks, as spell writes them, that a word may become.
func (c *Connect) beginnings(begun string, spell func(kind string, inFiles bool) string) (all []cobra.Completion) {
	for _, s := range c.program.schemes() {
		word := spell(s.Name, s.Port == "")
		if word != "" && strings.HasPrefix(word, begun) {
			all = append(all, cobra.CompletionWithDesc(word, s.About))
		}
	}
	return all
}

func profiles(begun string) (all []cobra.Completion) {
	for _, name := range profile.System().Names() {
		if strings.HasPrefix(name, begun) {
			all = append(all, cobra.CompletionWithDesc(name, "a profile"))
		}
	}
	return all
}

// completePath offers what is in the directory where a path ends, as an address writes it. On a
// server, and among options, it offers nothing.
func completePath(kind, begun string) (all []cobra.Completion) {
	if begun == "" && backends.InFiles(kind+":") {
		return []cobra.Completion{kind + ":/"}
	}
	path, err := url.PathUnescape(begun)
	if !backends.InFiles(kind+":") || !strings.HasPrefix(path, "/") || strings.Contains(begun, "?") || err != nil {
		return nil
	}
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(dir) // as much as there is
	for _, e := range entries {
		if name := e.Name(); offers(name, base) {
			all = append(all, kind+":"+backend.EscapePath(dir+name)+slashAfter(dir, e))
		}
	}
	return all
}

// offers reports whether to offer a name that continues base. It offers no name that addresses
// cannot have, and a hidden one only after a dot.
func offers(name, base string) bool {
	return strings.HasPrefix(name, base) && (base != "" || name[0] != '.') &&
		utf8.ValidString(name) && !strings.ContainsFunc(name, protocol.Misleads)
}

func slashAfter(dir string, e fs.DirEntry) string {
	mode := e.Type()
	if mode&fs.ModeSymlink != 0 {
		if st, err := os.Stat(dir + e.Name()); err == nil {
			mode = st.Mode()
		}
	}
	if mode.IsDir() {
		return "/"
	}
	return ""
}
