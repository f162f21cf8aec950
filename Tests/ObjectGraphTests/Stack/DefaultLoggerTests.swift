import RecordStore
import Testing

@testable import ObjectGraph

/// Messages of the default logger in builds without assertions.
@Suite struct DefaultLoggerTests {
    @Test func `a release build prints errors that are reported in no other way`() {
        #expect(DefaultLogger.prints(.fatal, isDebugBuild: false))
        for level in [LogLevel.trace, .notice, .warning] {
            #expect(!DefaultLogger.prints(level, isDebugBuild: false))
        }
        for code in [StoreError.Code.corrupt, .io, .diskFull, .fileReplaced, .closed] {
            let error = CoreStoreError(StoreError(code, "words"))
            #expect(DefaultLogger.prints(error, isDebugBuild: false), "\(code)")
        }
        // These errors are thrown or passed to a completion.
        for code in [StoreError.Code.lockedByOther, .schemaMismatch, .invalidArgument] {
            let error = CoreStoreError(StoreError(code, "words"))
            #expect(!DefaultLogger.prints(error, isDebugBuild: false), "\(code)")
        }
        #expect(!DefaultLogger.prints(.failure(.query, "words"), isDebugBuild: false))
    }

    @Test func `a debug build prints all but traces`() {
        for level in [LogLevel.notice, .warning, .fatal] {
            #expect(DefaultLogger.prints(level, isDebugBuild: true))
        }
        #expect(!DefaultLogger.prints(.trace, isDebugBuild: true))
        #expect(DefaultLogger.prints(.failure(.query, "words"), isDebugBuild: true))
    }
}
