package plot

// style has colours that people who see red and green alike tell apart, on white and on
// black; the curves differ in their marks' shape and dashes, too.
const style = `
text{font-family:Helvetica,Arial,"Liberation Sans",sans-serif;font-size:12px;fill:#222}
text.heading{font-size:15px;font-weight:bold}
text.title{font-weight:bold}
text.note{fill:#555}
text.x{fill:#555;text-anchor:middle}
text.y{fill:#555;text-anchor:end}
.paper{fill:#fff}
.grid{stroke:#d5d8dd;stroke-width:1}
.curve{fill:none;stroke-width:2}
.c0{stroke:#0b5cad}.c1{stroke:#0a7d5a}.c2{stroke:#b26a00}.c3{stroke:#8a3ffc}.c4{stroke:#666}
.c1.curve{stroke-dasharray:9 3}.c2.curve{stroke-dasharray:4 3}.c3.curve{stroke-dasharray:1 3}.c4.curve{stroke-dasharray:12 3 2 3}
.mark{fill:#fff;stroke-width:2}
@media (prefers-color-scheme:dark){
text{fill:#e6e8eb}
text.note,text.x,text.y{fill:#a3a8b0}
.paper,.mark{fill:#0d1117}
.grid{stroke:#30363d}
.c0{stroke:#58a6ff}.c1{stroke:#3fb68b}.c2{stroke:#e3a33b}.c3{stroke:#bc8cff}.c4{stroke:#a3a8b0}
}
`
