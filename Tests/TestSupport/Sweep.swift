import Foundation

/// How much of a sweep over many cases a run takes. All of it with TRELLIS_LONG, which CI sets for
/// the release build; a debug build, ten times slower, takes every third case.
public enum Sweep {
    public static let isWhole = ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil
    public static let step = isWhole ? 1 : 3

    public static func takes(_ index: Int) -> Bool { index.isMultiple(of: step) }
}
