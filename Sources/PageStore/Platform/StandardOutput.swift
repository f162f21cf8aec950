import CTrellis

/// What a tool prints.
package enum StandardOutput {
    /// Flushes the output. False if any of it could not be written, now or before: printing does
    /// not tell.
    package static func isWritten() -> Bool { trellis_output_is_written() }
}
