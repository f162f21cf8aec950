import Foundation
import Query
import RecordStore

/// The domain of the `NSError` that a ``CoreStoreError`` becomes.
public let CoreStoreErrorDomain = "com.corestore.error"

/// The one type of error that the library throws or passes to completions.
public enum CoreStoreError: Error, CustomNSError, Hashable, Sendable {
    /// No cause is known, such as for a stack that has ended.
    case unknown
    /// Another kind of store is attached at the URL.
    case differentStorageExistsAtURL(existingPersistentStoreURL: URL)
    /// There is no way to migrate the file to the model, or the file is of a later one;
    /// ``storeError`` says what is in the way, with the code `StoreError.Code.schemaMismatch` or
    /// `StoreError.Code.newerModel`.
    case mappingModelNotFound(
        localStoreURL: URL, NSError: NSError, targetModelVersion: String)
    /// The file needs several migrations, and the options allow one.
    case progressiveMigrationRequired(localStoreURL: URL)
    /// The file needs a migration that cannot run synchronously.
    case asynchronousMigrationRequired(localStoreURL: URL, NSError: NSError)
    /// The store failed, the model or a use of the library is at fault, or a rule of the schema is
    /// broken: ``storeError`` has the engine's report, ``violations`` the broken rules.
    case internalError(NSError: NSError)
    /// The error of the program's own closure or class, which the library passes on.
    case userError(error: any Error)
    /// The program cancelled the transaction.
    case userCancelled
    /// No attached store has objects of the entity.
    case persistentStoreNotFound(entity: any DynamicObject.Type)

    /// Makes any error one of these: nil becomes ``unknown``, a `CoreStoreError` stays itself, and
    /// every other error becomes an ``internalError(NSError:)``.
    public init(_ error: (any Error)?) {
        switch error {
        case nil: self = .unknown
        case let error as CoreStoreError: self = error
        case let error as StoreError: self = .internalError(NSError: StoreFailure.nsError(error))
        case let error as QueryError: self = .failure(.query, error.message)
        case let error?:
            let bridged = error as NSError
            self = Self.rebuilt(bridged) ?? .internalError(NSError: bridged)
        }
    }

    /// The storage engine's report when it is the cause: its code, page, byte offset and message.
    public var storeError: StoreError? {
        switch self {
        case .internalError(let error), .asynchronousMigrationRequired(_, let error),
            .mappingModelNotFound(_, let error, _):
            error.userInfo[StoreFailure.key] as? StoreError
        default: nil
        }
    }

    public static var errorDomain: String { CoreStoreErrorDomain }

    public var errorCode: Int { code.rawValue }

    public var errorUserInfo: [String: Any] {
        var values: [String: Any] = [NSLocalizedDescriptionKey: description]
        switch self {
        case .unknown, .userCancelled: break
        case .differentStorageExistsAtURL(let url): values["existingPersistentStoreURL"] = url
        case .mappingModelNotFound(let url, let error, let version):
            values["localStoreURL"] = url
            values["NSError"] = error
            values["targetModelVersion"] = version
        case .progressiveMigrationRequired(let url): values["localStoreURL"] = url
        case .asynchronousMigrationRequired(let url, let error):
            values["localStoreURL"] = url
            values["NSError"] = error
        case .internalError(let error): values["NSError"] = error
        case .userError(let error): values["Error"] = error
        case .persistentStoreNotFound(let entity): values["entity"] = entity
        }
        return values
    }

    private var code: CoreStoreErrorCode {
        switch self {
        case .unknown: .unknownError
        case .differentStorageExistsAtURL: .differentStorageExistsAtURL
        case .mappingModelNotFound: .mappingModelNotFound
        case .progressiveMigrationRequired: .progressiveMigrationRequired
        case .asynchronousMigrationRequired: .asynchronousMigrationRequired
        case .internalError: .internalError
        case .userError: .userError
        case .userCancelled: .userCancelled
        case .persistentStoreNotFound: .persistentStoreNotFound
        }
    }

    /// An `NSError` of our own domain does not cast back on every platform.
    private static func rebuilt(_ error: NSError) -> CoreStoreError? {
        guard error.domain == CoreStoreErrorDomain,
            let code = CoreStoreErrorCode(rawValue: error.code)
        else { return nil }
        let values = error.userInfo
        let url = values["localStoreURL"] as? URL
        switch code {
        case .unknownError: return .unknown
        case .differentStorageExistsAtURL:
            return (values["existingPersistentStoreURL"] as? URL).map {
                .differentStorageExistsAtURL(existingPersistentStoreURL: $0)
            }
        case .mappingModelNotFound:
            guard let url, let cause = values["NSError"] as? NSError else { return nil }
            return .mappingModelNotFound(
                localStoreURL: url, NSError: cause,
                targetModelVersion: values["targetModelVersion"] as? String ?? "")
        case .progressiveMigrationRequired:
            return url.map { .progressiveMigrationRequired(localStoreURL: $0) }
        case .asynchronousMigrationRequired:
            guard let url, let cause = values["NSError"] as? NSError else { return nil }
            return .asynchronousMigrationRequired(localStoreURL: url, NSError: cause)
        case .internalError:
            return (values["NSError"] as? NSError).map { .internalError(NSError: $0) }
        case .userError: return (values["Error"] as? any Error).map { .userError(error: $0) }
        case .userCancelled: return .userCancelled
        case .persistentStoreNotFound:
            return (values["entity"] as? any DynamicObject.Type).map {
                .persistentStoreNotFound(entity: $0)
            }
        }
    }

    public static func == (left: CoreStoreError, right: CoreStoreError) -> Bool {
        switch (left, right) {
        case (.unknown, .unknown), (.userCancelled, .userCancelled): true
        case (.differentStorageExistsAtURL(let a), .differentStorageExistsAtURL(let b)): a == b
        case (
            .mappingModelNotFound(let a, let e, let v), .mappingModelNotFound(let b, let f, let w)
        ):
            a == b && StoreFailure.areEqual(e, f) && v == w
        case (.progressiveMigrationRequired(let a), .progressiveMigrationRequired(let b)): a == b
        case (
            .asynchronousMigrationRequired(let a, let e),
            .asynchronousMigrationRequired(let b, let f)
        ): a == b && StoreFailure.areEqual(e, f)
        case (.internalError(let a), .internalError(let b)): StoreFailure.areEqual(a, b)
        case (.userError(let a), .userError(let b)):
            (a as NSError).domain == (b as NSError).domain
                && (a as NSError).code == (b as NSError).code
        case (.persistentStoreNotFound(let a), .persistentStoreNotFound(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(errorCode)
        if case .internalError(let error) = self {
            hasher.combine(error.domain)
            hasher.combine(error.code)
        }
    }
}

/// The codes of ``CoreStoreErrorDomain``.
public enum CoreStoreErrorCode: Int, Sendable {
    /// ``CoreStoreError/unknown``.
    case unknownError = 0
    /// ``CoreStoreError/differentStorageExistsAtURL(existingPersistentStoreURL:)``.
    case differentStorageExistsAtURL = 1
    /// ``CoreStoreError/mappingModelNotFound(localStoreURL:NSError:targetModelVersion:)``.
    case mappingModelNotFound = 2
    /// ``CoreStoreError/progressiveMigrationRequired(localStoreURL:)``.
    case progressiveMigrationRequired = 3
    /// ``CoreStoreError/asynchronousMigrationRequired(localStoreURL:NSError:)``.
    case asynchronousMigrationRequired = 4
    /// ``CoreStoreError/internalError(NSError:)``.
    case internalError = 5
    /// ``CoreStoreError/userError(error:)``.
    case userError = 6
    /// ``CoreStoreError/userCancelled``.
    case userCancelled = 7
    /// ``CoreStoreError/persistentStoreNotFound(entity:)``.
    case persistentStoreNotFound = 8
}

extension CoreStoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown: "something failed without saying what"
        case .differentStorageExistsAtURL(let url):
            "another kind of store is attached at \(url.path)"
        case .mappingModelNotFound(let url, let error, let version):
            "no migration leads from \(url.path) to the model version \(version): "
                + error.localizedDescription
        case .progressiveMigrationRequired(let url): "\(url.path) needs several migrations"
        case .asynchronousMigrationRequired(let url, let error):
            "\(url.path) does not fit the model: \(error.localizedDescription)"
        case .internalError(let error):
            storeError?.description ?? error.localizedDescription
        case .userError(let error): "\(error)"
        case .userCancelled: "the transaction was cancelled"
        case .persistentStoreNotFound(let entity):
            "no attached store has objects of \(entity)"
        }
    }
}

extension CoreStoreError: LocalizedError {
    public var errorDescription: String? { description }
}
