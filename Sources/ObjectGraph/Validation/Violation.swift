/// A rule that a transaction breaks, with the object and the properties.
///
/// A commit checks all rules and throws once; see ``CoreStoreError/violations``.
public struct Violation: Sendable, Hashable, CustomStringConvertible {
    /// The kind of rule.
    public enum Kind: String, Sendable, Hashable {
        /// A required property is nil.
        case required
        /// A relationship leads to too few or too many objects.
        case count
        /// A value is outside of its range.
        case range
        /// A text is too short or too long.
        case length
        /// A text does not match its pattern.
        case pattern
        /// A rule of the program's own.
        case custom
        /// An object that a deny rule protects was deleted.
        case denied
        /// Another object has the same values in a unique constraint.
        case unique
    }

    /// The kind of rule that is broken.
    public let kind: Kind
    /// The object that breaks it.
    public let objectID: NSManagedObjectID
    /// The object's entity.
    public let entityName: EntityName
    /// The properties concerned; empty for a rule of the whole object.
    public let keyPaths: [KeyPathString]
    /// The description of the violation.
    public let message: String

    public var description: String {
        let property = keyPaths.isEmpty ? "" : "." + keyPaths.joined(separator: ",")
        return "\(entityName)\(property) \(message)"
    }

    init(_ kind: Kind, _ raw: RawObject, _ keyPaths: [KeyPathString], _ message: String) {
        self.kind = kind
        objectID = raw.id
        entityName = raw.entity.name
        self.keyPaths = keyPaths
        self.message = message
    }
}

extension CoreStoreError {
    private static let shownViolationCountMax = 10

    /// The rules that a transaction broke: every violation of the commit that threw, the first 1000
    /// of a statement that assigns records; empty for any other error.
    public var violations: [Violation] {
        guard case .internalError(let error) = self else { return [] }
        return error.userInfo[StoreFailure.violationsKey] as? [Violation] ?? []
    }

    /// - Parameter count: how many there are, where not all are kept.
    static func violated(_ violations: [Violation], count: Int? = nil) -> CoreStoreError {
        var lines = violations.prefix(shownViolationCountMax).map(\.description)
        let rest = (count ?? violations.count) - lines.count
        if rest > 0 { lines.append("and \(rest) more") }
        return .internalError(
            NSError: NSError(
                domain: StoreFailure.domain, code: StoreFailure.Code.validation.rawValue,
                userInfo: [
                    NSLocalizedDescriptionKey: lines.joined(separator: "; "),
                    StoreFailure.violationsKey: violations,
                ]))
    }
}
