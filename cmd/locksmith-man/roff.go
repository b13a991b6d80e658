package main

import (
	"bytes"
	"fmt"
	"strings"
)

// A roff writes a page in the language of man(7).
type roff struct{ buf bytes.Buffer }

func (r *roff) bytes() []byte { return r.buf.Bytes() }

// title begins a page of a section of the manual: "1" for commands, "7" for the guide.
func (r *roff) title(name, section, date string) {
	manual := "User Commands"
	if section == "7" {
		manual = "The guide"
	}
	fmt.Fprintf(&r.buf, ".TH %s %s \"%s\" locksmith \"%s\"\n", escape(strings.ToUpper(name)), section, date, manual)
}

func (r *roff) section(title string)    { r.macro("SH", title) }
func (r *roff) subsection(title string) { r.macro("SS", title) }

func (r *roff) macro(name, text string) {
	r.buf.WriteString(strings.TrimRight(fmt.Sprintf(".%s %s", name, escape(text)), " ") + "\n")
}

// text writes text that is to be filled.
func (r *roff) text(text string) { r.wrapped(text, r.line) }

// wrapped breaks lines where that is convenient, because man fills them anew.
func (r *roff) wrapped(text string, write func(line string)) {
	const width = 76
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+len(word) >= width {
			write(line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		write(line)
	}
}

// line writes a line of text that is never a request, whatever it begins with.
func (r *roff) line(text string) { r.escaped(escape(text)) }

// escaped writes such a line that is escaped already.
func (r *roff) escaped(text string) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	r.buf.WriteString(text + "\n")
}

// paragraphs writes paragraphs, which empty lines separate. An indented paragraph stays as it is.
func (r *roff) paragraphs(text string) {
	for i, p := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			r.buf.WriteString(".PP\n")
		}
		p = strings.TrimLeft(p, "#\n")
		if strings.HasPrefix(p, "\t") {
			r.verbatim(strings.Split(strings.ReplaceAll(p, "\t", "  "), "\n"))
		} else {
			r.text(p)
		}
	}
}

func (r *roff) verbatim(lines []string) {
	r.buf.WriteString(".EX\n")
	for _, line := range lines {
		r.line(line)
	}
	r.buf.WriteString(".EE\n")
}

// item explains a term. The term is escaped already.
func (r *roff) item(term, text string) {
	r.buf.WriteString(".TP\n" + term + "\n")
	r.text(text)
}

func bold(text string) string   { return `\fB` + escape(text) + `\fR` }
func italic(text string) string { return `\fI` + escape(text) + `\fR` }

// escape makes a hyphen the character that people type, and keeps quotes and tildes as they are.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "~", `\(ti`, "^", `\(ha`, `"`, `\(dq`).Replace(text)
}
