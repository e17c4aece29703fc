"""The minimum cut of a network, by maximum flow.

In: edges with capacities between numbered vertices. Out: the vertices on the sink's side of the
cheapest cut; of several, the one nearest the sink.

    >>> network = Network(4)          # 0 -> 1 -> 2 -> 3
    >>> network.edge(0, 1, 5); network.edge(1, 2, 2); network.edge(2, 3, 9)
    >>> sorted(network.sink_side(0, 3))
    [2, 3]

Complexity: Dinic's algorithm, O(V^2 E); the networks of graphs take about linear time.

Source: E. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
estimation" (1970).
"""

INFINITE = 1 << 60


class Network:
    """Edges lie in pairs, an edge and its reverse: edge `e ^ 1` is the reverse of `e`."""

    def __init__(self, vertices: int):
        self.leaving: list[list[int]] = [[] for _ in range(vertices)]
        self.ends: list[int] = []
        self.room: list[int] = []  # what may still flow along each edge

    def edge(self, start: int, end: int, capacity: int) -> None:
        """Add an edge."""
        for origin, target, room in ((start, end, capacity), (end, start, 0)):
            self.leaving[origin].append(len(self.ends))
            self.ends.append(target)
            self.room.append(room)

    def sink_side(self, source: int, sink: int) -> set[int]:
        """The vertices from which the sink can be reached once no more can flow."""
        while True:
            level = self._levels(source, sink)
            if level[sink] < 0:
                break
            at = [0] * len(self.leaving)
            while self._push(source, sink, level, at):
                pass
        side, pending = {sink}, [sink]
        while pending:
            for edge in self.leaving[pending.pop()]:
                if self.room[edge ^ 1] and self.ends[edge] not in side:
                    side.add(self.ends[edge])
                    pending.append(self.ends[edge])
        return side

    def _levels(self, source: int, sink: int) -> list[int]:
        """How many edges each vertex is from the source; -1 for what nothing can reach."""
        level = [-1] * len(self.leaving)
        level[source] = 0
        frontier = [source]
        while frontier and level[sink] < 0:
            reached = []
            for vertex in frontier:
                for edge in self.leaving[vertex]:
                    end = self.ends[edge]
                    if self.room[edge] and level[end] < 0:
                        level[end] = level[vertex] + 1
                        reached.append(end)
            frontier = reached
        return level

    def _push(self, source: int, sink: int, level: list[int], at: list[int]) -> int:
        """Send as much as fits along one shortest path; 0 when there is none left."""
        path: list[int] = []
        vertex = source
        while vertex != sink:
            edges = self.leaving[vertex]
            while at[vertex] < len(edges):
                edge = edges[at[vertex]]
                if self.room[edge] and level[self.ends[edge]] == level[vertex] + 1:
                    path.append(edge)
                    vertex = self.ends[edge]
                    break
                at[vertex] += 1
            else:
                if not path:
                    return 0
                back = path.pop()
                vertex = self.ends[back ^ 1]
                at[vertex] += 1
        amount = min(self.room[edge] for edge in path)
        for edge in path:
            self.room[edge] -= amount
            self.room[edge ^ 1] += amount
        return amount
