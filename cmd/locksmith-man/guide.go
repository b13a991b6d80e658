package main

import (
	"cmp"
	"path/filepath"
	"regexp"
	"strings"
)

// guidePage is the name of the man page that a page of the guide becomes.
func guidePage(file string) string {
	return "locksmith-" + strings.TrimSuffix(filepath.Base(file), ".md")
}

// guide returns the man page of a page of the guide. It knows as much of Markdown as the guide uses.
func guide(file, text, date string) []byte {
	name := guidePage(file)
	heading, text, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	g := &guideWriter{}
	g.title(name, "7", date)
	g.section("NAME")
	g.text(name + " - " + heading)
	g.section("DESCRIPTION")
	for block := range blocks(text) {
		g.block(block)
	}
	g.section("SEE ALSO")
	g.text("locksmith(1)")
	return g.bytes()
}

// blocks are what empty lines separate, but for those within a fenced block.
func blocks(text string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		var block []string
		fenced := false
		for line := range strings.Lines(text + "\n\n") {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, fence) {
				fenced = !fenced
			}
			if line != "" || fenced {
				block = append(block, line)
			} else if len(block) > 0 {
				if !yield(block) {
					return
				}
				block = nil
			}
		}
	}
}

const fence = "```"

// A guideWriter writes a page of the guide.
type guideWriter struct {
	roff
	follows bool // a paragraph would follow another, which a request must separate
}

func (g *guideWriter) block(lines []string) {
	first := lines[0]
	switch {
	case strings.HasPrefix(first, "## "):
		g.section(strings.ToUpper(plain(first[3:])))
		g.follows = false
		return
	case strings.HasPrefix(first, "### "):
		g.subsection(plain(first[4:]))
		g.follows = false
		return
	case strings.HasPrefix(first, "|"):
		g.table(lines)
	case listItem.MatchString(first):
		g.list(lines)
	default:
		if g.follows {
			g.macro("PP", "")
		}
		if strings.HasPrefix(first, fence) {
			g.verbatim(strings.Split(strings.ReplaceAll(strings.Join(lines[1:len(lines)-1], "\n"), "\t", "  "), "\n"))
		} else {
			g.fill(inline(strings.Join(lines, " ")))
		}
	}
	g.follows = true
}

var listItem = regexp.MustCompile(`^(-|[0-9]+\.) `)

// list writes items, each of which may go on in indented lines.
func (g *guideWriter) list(lines []string) {
	for i := 0; i < len(lines); {
		mark := listItem.FindString(lines[i])
		text := lines[i][len(mark):]
		for i++; i < len(lines) && !listItem.MatchString(lines[i]); i++ {
			text += " " + strings.TrimSpace(lines[i])
		}
		if mark == "- " {
			mark = `\(bu`
		}
		g.buf.WriteString(".IP " + strings.TrimSpace(mark) + " 4\n")
		g.fill(inline(text))
	}
}

// table writes each row as an item: its first cell, and under it the others, each with the title of its column. A row
// whose first cell is empty goes on with that of the row before.
func (g *guideWriter) table(lines []string) {
	titles, first := cells(lines[0]), ""
	for _, line := range lines[2:] {
		row := cells(line)
		first = cmp.Or(row[0], first)
		g.buf.WriteString(".TP\n")
		g.escaped(cmp.Or(inline(first), `\&`)) // an item's term is one line
		told := 0
		for i, cell := range row[1:] {
			if cell == "" {
				continue
			}
			if told++; told > 1 {
				g.buf.WriteString(".br\n")
			}
			if title := titles[i+1]; title != "" && len(row) > 2 {
				cell = strings.TrimSuffix(title, "?") + ": " + cell
			}
			g.fill(inline(cell))
		}
		if told == 0 {
			g.fill("\u2013")
		}
	}
}

func cells(line string) []string {
	all := strings.Split(strings.Trim(line, "|"), "|")
	for i, cell := range all {
		all[i] = strings.TrimSpace(cell)
	}
	return all
}

// fill writes text that is escaped already.
func (g *guideWriter) fill(text string) { g.wrapped(text, g.escaped) }

var marked = regexp.MustCompile("`([^`]+)`" + `|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^][]*)\]\(([^()\s]*)\)`)

// inline escapes text, and sets in other fonts what is marked in it. A link to another page of the guide
// names its man page; of other links the text remains.
func inline(text string) string {
	var b strings.Builder
	end := 0
	for _, m := range marked.FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) string { return text[max(m[2*i], 0):max(m[2*i+1], 0)] }
		b.WriteString(escape(text[end:m[0]]))
		end = m[1]
		switch {
		case group(1) != "":
			b.WriteString(bold(group(1)))
		case group(2) != "":
			b.WriteString(bold(plain(group(2))))
		case group(3) != "":
			b.WriteString(italic(plain(group(3))))
		default:
			b.WriteString(inline(group(4)))
			if page, _, _ := strings.Cut(group(5), "#"); strings.HasSuffix(page, ".md") && !strings.Contains(page, "/") {
				b.WriteString(" (" + bold(guidePage(page)) + "(7))")
			}
		}
	}
	return b.String() + escape(text[end:])
}

// plain leaves out what marks code.
func plain(text string) string { return strings.ReplaceAll(text, "`", "") }
