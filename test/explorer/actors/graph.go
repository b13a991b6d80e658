//go:build unix

package actors

import (
	"slices"

	"locksmith/test/explorer/steps"
)

// A Graph is everything that one process can do. A node is the answers that the process got so
// far, and the step that it takes next because of them: the code under test is deterministic, so
// nothing else matters. The code runs once for each new answer; after that the graph remembers.
//
// Between two calls (Role.play) a process is only the values that it holds. Ways that lead to
// equal values join there. Otherwise every turn of a waiting loop would be a new node.
type Graph struct {
	names *steps.Names
	self  int
	role  Role
	nodes []node
	// joined maps the fingerprint of a process between two calls to its node, if nothing has
	// happened since.
	joined map[uint64]NodeID
	live   []NodeID // the nodes that have a runner, oldest first
}

// A NodeID is where in its graph a process is. 0 is its beginning.
type NodeID int32

type node struct {
	op     steps.Op
	serial uint8 // how many ids were given out so far
	from   NodeID
	via    steps.Reply // the answer to from's step that led here
	edges  []Edge
	runner *runner // the runner that has come to this node, or nil
}

// An Edge is an answer and what follows from it.
type Edge struct {
	via   steps.Reply
	To    NodeID
	Notes []Note
}

// maxLive limits how many runners are kept. If a node has no runner, the code runs again from its
// beginning.
const maxLive = 512

// NewGraph returns the graph of the process with this number. It has only the beginning.
func NewGraph(n *steps.Names, self int, role Role) *Graph {
	g := &Graph{names: n, self: self, role: role, joined: map[uint64]NodeID{}}
	r := newRunner(n, self, role)
	g.nodes = []node{{op: r.step(steps.Reply{})}}
	r.stop()
	return g
}

// Len returns how many nodes the graph has so far.
func (g *Graph) Len() int { return len(g.nodes) }

// Op returns the step that the process takes at n.
func (g *Graph) Op(n NodeID) steps.Op { return g.nodes[n].op }

// Serial returns how many ids the process has used up when it is at n.
func (g *Graph) Serial(n NodeID) uint8 { return g.nodes[n].serial }

// Follow answers the step of node n.
func (g *Graph) Follow(n NodeID, via steps.Reply) Edge {
	for _, e := range g.nodes[n].edges {
		if e.via == via {
			return e
		}
	}
	r := g.runnerAt(n)
	e := g.arrive(node{op: r.step(via), from: n, via: via}, r)
	g.nodes[n].edges = append(g.nodes[n].edges, e)
	return e
}

// arrive makes the node that a runner has reached, or finds it.
func (g *Graph) arrive(reached node, r *runner) Edge {
	e := Edge{via: reached.via, Notes: r.notes}
	if known, found := g.joined[r.place]; r.between && found {
		e.To = known
		g.lend(known, r)
		return e
	}
	e.To = NodeID(len(g.nodes))
	if r.between {
		g.joined[r.place] = e.To
	}
	reached.serial, reached.runner = r.serial, r
	g.nodes = append(g.nodes, reached)
	g.keep(e.To)
	return e
}

// lend gives a known node a runner that came there in another way.
func (g *Graph) lend(n NodeID, r *runner) {
	if g.nodes[n].runner != nil {
		r.stop()
		return
	}
	g.nodes[n].runner = r
	g.keep(n)
}

// keep ends the runner of the oldest node if there are too many.
func (g *Graph) keep(n NodeID) {
	g.live = append(g.live, n)
	if len(g.live) <= maxLive {
		return
	}
	if oldest := &g.nodes[g.live[0]]; oldest.runner != nil {
		oldest.runner.stop()
		oldest.runner = nil
	}
	g.live = g.live[1:]
}

// runnerAt takes the runner at n, or brings one there.
func (g *Graph) runnerAt(n NodeID) *runner {
	if r := g.nodes[n].runner; r != nil {
		g.nodes[n].runner = nil
		return r
	}
	r := newRunner(g.names, g.self, g.role)
	r.step(steps.Reply{})
	for _, answer := range g.history(n) {
		r.step(answer)
	}
	return r
}

func (g *Graph) history(n NodeID) []steps.Reply {
	var answers []steps.Reply
	for ; n != 0; n = g.nodes[n].from {
		answers = append(answers, g.nodes[n].via)
	}
	slices.Reverse(answers)
	return answers
}

// Close ends all runners.
func (g *Graph) Close() {
	for i := range g.nodes {
		if r := g.nodes[i].runner; r != nil {
			r.stop()
		}
	}
}
