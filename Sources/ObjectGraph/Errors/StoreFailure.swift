import RecordStore

/// Engine faults and broken rules as `NSError`s.
enum StoreFailure {
    static let domain = "org.trellis.store"
    static let key = "StoreError"
    static let violationsKey = "Violations"
    static let partialCommitKey = "PartialCommit"

    /// Codes of what is no engine fault.
    enum Code: Int {
        case validation = 1001
        case query = 1002
        case misuse = 1003
        case modelMismatch = 1004
        case coding = 1005
    }

    static func nsError(_ error: StoreError) -> NSError {
        let index = StoreError.Code.allCases.firstIndex(of: error.code) ?? 0
        return NSError(
            domain: domain, code: index + 1,
            userInfo: [NSLocalizedDescriptionKey: error.description, key: error])
    }

    static func nsError(_ error: StoreError, _ commit: PartialCommit) -> NSError {
        let plain = nsError(error)
        var values = plain.userInfo
        values[partialCommitKey] = commit
        return NSError(domain: domain, code: plain.code, userInfo: values)
    }

    /// Whether two errors say the same: what failed, not only of which kind it is.
    static func areEqual(_ left: NSError, _ right: NSError) -> Bool {
        guard left.domain == right.domain && left.code == right.code else { return false }
        return left.userInfo[key] as? StoreError == right.userInfo[key] as? StoreError
            && left.userInfo[violationsKey] as? [Violation]
                == right.userInfo[violationsKey] as? [Violation]
    }

    static func nsError(_ code: Code, _ message: String) -> NSError {
        NSError(
            domain: domain, code: code.rawValue,
            userInfo: [NSLocalizedDescriptionKey: message])
    }
}

extension CoreStoreError {
    static func failure(_ code: StoreFailure.Code, _ message: String) -> CoreStoreError {
        .internalError(NSError: StoreFailure.nsError(code, message))
    }

    /// The error of a call that was made where it cannot be, logged.
    static func refusal(_ message: String) -> CoreStoreError {
        let failure = failure(.misuse, message)
        Log.error(failure, "a call was refused.")
        return failure
    }
}
