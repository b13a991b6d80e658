package explore

import "slices"

// A graph is everything that one process can do. A node is the answers that the process got so
// far, and the step that it takes next because of them: the code under test is deterministic, so
// nothing else matters. The code runs once for each new answer; after that the graph remembers.
//
// Between two calls (Role.play) a process is only the values that it holds. Ways that lead to
// equal values join there. Otherwise every turn of a waiting loop would be a new node.
type graph struct {
	names *names
	self  int
	role  Role
	nodes []node
	// joined maps the fingerprint of a process between two calls to its node, if nothing has
	// happened since.
	joined map[uint64]nodeID
	live   []nodeID // the nodes that have a runner, oldest first
}

type nodeID int32

type node struct {
	op     op
	serial uint8 // how many ids were given out so far
	from   nodeID
	via    reply // the answer to from's step that led here
	edges  []edge
	runner *runner // the runner that has come to this node, or nil
}

// An edge is an answer and what follows from it.
type edge struct {
	via   reply
	to    nodeID
	notes []note
}

// maxLive limits how many runners are kept. If a node has no runner, the code runs again from its
// beginning.
const maxLive = 512

func newGraph(n *names, self int, role Role) *graph {
	g := &graph{names: n, self: self, role: role, joined: map[uint64]nodeID{}}
	r := newRunner(n, self, role)
	g.nodes = []node{{op: r.step(reply{})}}
	r.stop()
	return g
}

// follow answers the step of node n.
func (g *graph) follow(n nodeID, via reply) edge {
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
func (g *graph) arrive(reached node, r *runner) edge {
	e := edge{via: reached.via, notes: r.notes}
	if known, found := g.joined[r.place]; r.between && found {
		e.to = known
		g.lend(known, r)
		return e
	}
	e.to = nodeID(len(g.nodes))
	if r.between {
		g.joined[r.place] = e.to
	}
	reached.serial, reached.runner = r.serial, r
	g.nodes = append(g.nodes, reached)
	g.keep(e.to)
	return e
}

// lend gives a known node a runner that came there in another way.
func (g *graph) lend(n nodeID, r *runner) {
	if g.nodes[n].runner != nil {
		r.stop()
		return
	}
	g.nodes[n].runner = r
	g.keep(n)
}

// keep ends the runner of the oldest node if there are too many.
func (g *graph) keep(n nodeID) {
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
func (g *graph) runnerAt(n nodeID) *runner {
	if r := g.nodes[n].runner; r != nil {
		g.nodes[n].runner = nil
		return r
	}
	r := newRunner(g.names, g.self, g.role)
	r.step(reply{})
	for _, answer := range g.history(n) {
		r.step(answer)
	}
	return r
}

func (g *graph) history(n nodeID) []reply {
	var answers []reply
	for ; n != 0; n = g.nodes[n].from {
		answers = append(answers, g.nodes[n].via)
	}
	slices.Reverse(answers)
	return answers
}

// close ends all runners.
func (g *graph) close() {
	for i := range g.nodes {
		if r := g.nodes[i].runner; r != nil {
			r.stop()
		}
	}
}
