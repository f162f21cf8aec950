import Foundation
import RecordStore

/// The functions of the language that take a collection. Nil is ignored except by `count`, and
/// values that are not numbers except by `count`, `min` and `max`.
enum Statistics {
    static func value(_ name: String, of values: [Value]) -> Value {
        switch name {
        case "count": .int(Int64(values.count))
        case "sum": Aggregate.value(.sum, of: values, isCollection: false)
        case "min": Aggregate.value(.minimum, of: values, isCollection: false)
        case "max": Aggregate.value(.maximum, of: values, isCollection: false)
        case "average": Aggregate.value(.average, of: values, isCollection: false)
        case "median": median(values)
        case "mode": mode(values)
        default: deviation(values)
        }
    }

    /// The middle number, or the mean of the middle two.
    private static func median(_ values: [Value]) -> Value {
        let numbers = values.filter { $0.approximation != nil }
            .sorted { Value.compare($0, $1) < 0 }
        guard !numbers.isEmpty else { return .null }
        let middle = numbers.count / 2
        if !numbers.count.isMultiple(of: 2) { return numbers[middle] }
        let pair = numbers[(middle - 1)...middle].compactMap(\.approximation)
        // Halved first: the sum of two large numbers may exceed a Double.
        return .double(pair.reduce(0) { $0 + $1 / 2 })
    }

    /// The most frequent number; the least one if there are several.
    private static func mode(_ values: [Value]) -> Value {
        var counts: [Value: Int] = [:]
        for value in values where value.approximation != nil { counts[value, default: 0] += 1 }
        let most = counts.values.max()
        return counts.filter { $0.value == most }.keys.min { Value.compare($0, $1) < 0 } ?? .null
    }

    /// The standard deviation of the whole population.
    private static func deviation(_ values: [Value]) -> Value {
        let numbers = values.compactMap(\.approximation)
        guard !numbers.isEmpty else { return .null }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return .double((squares / Double(numbers.count)).squareRoot())
    }
}
