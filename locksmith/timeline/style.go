package timeline

// style has colours that people who see red and green alike tell apart. Text on a
// bar stands out enough from all of them.
const style = `
text{font-family:Helvetica,Arial,"Liberation Sans",sans-serif;font-size:11px;fill:#222}
.paper{fill:#fff}
.stripe{fill:#f4f5f7}
text.heading{font-size:15px;font-weight:bold}
text.lock{font-size:12px;font-weight:bold}
text.note{fill:#555}
text.tick{fill:#555;text-anchor:middle}
text.token{fill:#fff;text-anchor:middle}
text.bad{fill:#b3261e;font-weight:bold}
.small .name,.small .token,.small .bad{font-size:9px}
.grid{stroke:#d5d8dd;stroke-width:1}
.wait{fill:url(#hatch);stroke:#8a8f98;stroke-width:.5}
.aside{stroke:#8a8f98;stroke-width:1}
.exclusive{fill:#0b5cad}
.shared{fill:#0a7d5a}
.open{fill-opacity:.15;stroke-width:1.5;stroke-dasharray:5 3}
.open.exclusive{stroke:#0b5cad}
.open.shared{stroke:#0a7d5a}
.open.wait{fill:none;stroke:#8a8f98}
.late{stroke:#f2a100;stroke-width:2.5}
.lost{fill:none;stroke:#b3261e;stroke-width:3}
.gave-up{fill:none;stroke:#555;stroke-width:2}
`

// hatch is what waiting is filled with.
const hatch = `<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
	`<rect width="5" height="5" fill="#eceef1"/><line x1="0" y1="0" x2="0" y2="5" stroke="#a3a8b0" stroke-width="2.5"/></pattern></defs>` + "\n"
