import CProcess

/// Marks for callgrind, which counts instructions; without it they are empty calls.
enum Callgrind {
    /// Counts what the body does, under a number of its own.
    static func counted<Result>(_ body: () throws -> Result) rethrows -> Result {
        bench_workload_begins()
        defer { bench_workload_ends() }
        return try body()
    }

    /// Does what no count is to have.
    static func uncounted(_ body: () -> Void) {
        withoutActuallyEscaping(body) { body in
            var call = body
            withUnsafeMutablePointer(to: &call) { pointer in
                bench_uncounted(
                    { $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, pointer)
            }
        }
    }
}
