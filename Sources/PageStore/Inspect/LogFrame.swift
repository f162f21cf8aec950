/// One frame as the log holds it, for tools.
package struct LogFrame: Sendable {
    package var byteOffset: UInt64
    package var length: Int
    package var type: FrameType
    package var segmentNumber: UInt64
    package var pageID: UInt64?
    package var commitNumber: UInt64?
}
