import Foundation

/// What tables show of a measurement, and how.
enum Figure: String {
    case cpu = "CPU µs"
    case wall = "wall µs"
    case written = "MB written"
    case peak = "peak MiB"
    case file = "file MiB"

    func value(_ measurement: Measurement) -> Double {
        switch self {
        case .cpu: measurement.cpuPerOperation * 1e6
        case .wall: measurement.wallPerOperation * 1e6
        case .written: Double(measurement.bytesWritten) / 1e6
        case .peak: Double(measurement.peakResidentBytes) / 1_048_576
        case .file: Double(measurement.fileBytes) / 1_048_576
        }
    }

    /// Three digits that mean something.
    static func text(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "" }
        guard value != 0 else { return "0" }
        let digits = max(0, 2 - Int(log10(abs(value)).rounded(.down)))
        return String(format: "%.\(min(digits, 4))f", value)
    }
}
