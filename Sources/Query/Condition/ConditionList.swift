/// The parts of an AND or OR, in order.
///
/// A balanced tree of short arrays, so that joining two lists shares both: building a chain of `&&`
/// or `||` takes time that depends only on its length, whichever end it grows at.
package struct ConditionList: Hashable, Sendable, ExpressibleByArrayLiteral {
    private indirect enum Tree: Sendable {
        case leaf([Condition])
        case pair(Tree, Tree, height: Int)

        var height: Int {
            switch self {
            case .leaf: 0
            case .pair(_, _, let height): height
            }
        }
    }

    private static let leafCountMax = 32

    private let tree: Tree
    package let count: Int
    /// The nesting depth of the deepest part.
    package let depth: Int

    private init(_ tree: Tree, count: Int, depth: Int) {
        self.tree = tree
        self.count = count
        self.depth = depth
    }

    package init(_ parts: [Condition]) {
        self.init(.leaf(parts), count: parts.count, depth: parts.reduce(0) { max($0, $1.depth) })
    }

    package init(arrayLiteral parts: Condition...) { self.init(parts) }

    package var isEmpty: Bool { count == 0 }

    package var parts: [Condition] {
        if case .leaf(let parts) = tree { return parts }
        var parts: [Condition] = []
        parts.reserveCapacity(count)
        Self.append(tree, to: &parts)
        return parts
    }

    private static func append(_ tree: Tree, to parts: inout [Condition]) {
        switch tree {
        case .leaf(let own): parts += own
        case .pair(let left, let right, _):
            append(left, to: &parts)
            append(right, to: &parts)
        }
    }

    package static func == (left: ConditionList, right: ConditionList) -> Bool {
        left.count == right.count && left.parts == right.parts
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(parts) }

    // MARK: Joining

    package static func + (left: ConditionList, right: ConditionList) -> ConditionList {
        ConditionList(
            join(left.tree, right.tree), count: left.count + right.count,
            depth: max(left.depth, right.depth))
    }

    private static func pair(_ left: Tree, _ right: Tree) -> Tree {
        .pair(left, right, height: max(left.height, right.height) + 1)
    }

    /// Heights of siblings differ by at most one, as in an AVL tree.
    private static func join(_ left: Tree, _ right: Tree) -> Tree {
        switch (left, right) {
        case (.leaf(let first), .leaf(let second)) where first.count + second.count <= leafCountMax:
            return .leaf(first + second)
        case (.pair(let outer, let inner, _), _) where left.height > right.height + 1:
            return balanced(outer, join(inner, right))
        case (_, .pair(let inner, let outer, _)) where right.height > left.height + 1:
            return balanced(join(left, inner), outer)
        default: return pair(left, right)
        }
    }

    /// A pair of trees whose heights differ by at most two, rebalanced.
    private static func balanced(_ left: Tree, _ right: Tree) -> Tree {
        if case .pair(let inner, let outer, _) = right, right.height > left.height + 1 {
            if inner.height > outer.height, case .pair(let first, let second, _) = inner {
                return pair(pair(left, first), pair(second, outer))
            }
            return pair(pair(left, inner), outer)
        }
        if case .pair(let outer, let inner, _) = left, left.height > right.height + 1 {
            if inner.height > outer.height, case .pair(let first, let second, _) = inner {
                return pair(pair(outer, first), pair(second, right))
            }
            return pair(outer, pair(inner, right))
        }
        return pair(left, right)
    }
}
