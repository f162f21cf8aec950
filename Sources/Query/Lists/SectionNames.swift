import Primitives

/// Interns the names of a list's sections as small numbers. Versions of a list share it, on any
/// thread; a number keeps its name.
package final class SectionNames: Sendable {
    private struct Table {
        var numbers: [String: UInt32] = [:]
        var names: [String] = []
    }

    private let table = Mutex(Table())

    package init() {}

    package var count: Int { table.withLock { $0.names.count } }

    package func name(of section: UInt32) -> String {
        table.withLock { table in
            precondition(Int(section) < table.names.count, "a section has a name")
            return table.names[Int(section)]
        }
    }

    /// The number of a name, which is assigned on first use.
    package func number(of name: String) -> UInt32 {
        table.withLock { table in
            if let number = table.numbers[name] { return number }
            let number = UInt32(table.names.count)
            table.names.append(name)
            table.numbers[name] = number
            return number
        }
    }
}
