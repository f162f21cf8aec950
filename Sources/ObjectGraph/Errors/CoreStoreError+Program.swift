import RecordStore

extension CoreStoreError {
    /// Makes an error that the program's code threw one of these: a `CoreStoreError` stays itself,
    /// an error of the store becomes `.internalError`, and every other one `.userError`.
    init(thrown error: any Error) {
        switch error {
        case let error as CoreStoreError: self = error
        case let error as StoreError: self = CoreStoreError(error)
        default: self = .userError(error: error)
        }
    }

    /// Runs what calls code of the program, which may throw anything.
    static func typing<Result>(_ body: () throws -> Result) throws(CoreStoreError) -> Result {
        do {
            return try body()
        } catch {
            throw CoreStoreError(thrown: error)
        }
    }

    /// Whether the program threw this, so that it need not be told of it by a log.
    var isOfProgram: Bool {
        switch self {
        case .userError, .userCancelled: true
        default: false
        }
    }
}
