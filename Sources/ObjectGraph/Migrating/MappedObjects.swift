import RecordStore

/// An attribute of a model version, as mappings see it.
public struct NSAttributeDescription: Hashable, Sendable {
    /// The attribute's name in the store.
    public let name: KeyPathString
    /// The attribute's type.
    public let attributeType: NSAttributeType
    /// Whether the attribute may be nil.
    public let isOptional: Bool

    init(_ attribute: AttributeDescription) {
        name = attribute.name
        attributeType = NSAttributeType(attribute.type)
        isOptional = attribute.isOptional
    }
}

/// An object of the earlier version, to be read by a mapping. Values are of the types that the
/// store has: `Bool`, `Int64`, `UInt64`, `Float`, `Double`, `Decimal`, `String`, `Data`, `Date`,
/// `UUID` and `URL`, and a coded property is its `Data`. Valid for the mapping's call alone.
public final class UnsafeSourceObject {
    /// The entity's name in the earlier version.
    public let entityName: EntityName

    private let record: SourceRecord
    private let faults: MappingFaults

    init(_ record: SourceRecord, _ faults: MappingFaults) {
        entityName = record.entityName
        self.record = record
        self.faults = faults
    }

    /// The value of an attribute of the earlier version; nil where it has none. An attribute that
    /// the entity does not have ends the migration with the file as it was, and so does a value
    /// that cannot be read.
    public subscript(attribute: KeyPathString) -> Any? {
        do throws(StoreError) {
            guard let value = try record.value(attribute) else {
                faults.add(
                    StoreError(
                        .invalidArgument, "\(entityName) has no attribute “\(attribute)” to read"))
                return nil
            }
            return ValueBridge.native(value)
        } catch {
            faults.add(error)
            return nil
        }
    }

    /// The value of an attribute of the earlier version; nil where it has none.
    public subscript(attribute: NSAttributeDescription) -> Any? { self[attribute.name] }

    /// Calls back with each attribute, those of superentities first.
    public func enumerateAttributes(_ callback: (_ attribute: NSAttributeDescription) -> Void) {
        for attribute in record.attributes { callback(NSAttributeDescription(attribute)) }
    }
}

/// An object of the later version that a mapping makes. It begins with the defaults and initial
/// values of its entity, and has the links of the object that it was. Valid for the mapping's call
/// alone.
public final class UnsafeDestinationObject {
    private let record: DestinationRecord?
    private let faults: MappingFaults

    init(_ record: DestinationRecord?, _ faults: MappingFaults) {
        self.record = record
        self.faults = faults
    }

    /// The entity's name in the later version.
    public var entityName: EntityName { record?.entityName ?? "" }

    /// The value of an attribute of the later version. A value is converted where nothing of it is
    /// lost; one that the attribute has no place for, and an attribute that the entity does not
    /// have, end the migration with the file as it was.
    public subscript(attribute: KeyPathString) -> Any? {
        get { record?.value(attribute).flatMap(ValueBridge.native) }
        set {
            guard let record else { return }
            guard let value = ValueBridge.value(newValue), record.set(value, for: attribute) else {
                faults.add(
                    StoreError(
                        .invalidArgument,
                        "\(entityName).\(attribute) has no place for "
                            + "\(newValue.map { "“\($0)”" } ?? "nil")"))
                return
            }
        }
    }

    /// The value of an attribute of the later version.
    public subscript(attribute: NSAttributeDescription) -> Any? {
        get { self[attribute.name] }
        set { self[attribute.name] = newValue }
    }

    /// Calls back with each attribute, those of superentities first, and with the one of the
    /// earlier version that it was: the one of its name, or of the earlier name that it gives. Nil
    /// for a new one.
    public func enumerateAttributes(
        _ callback: (
            _ attribute: NSAttributeDescription, _ sourceAttribute: NSAttributeDescription?
        ) -> Void
    ) {
        guard let record else { return }
        for attribute in record.attributes {
            callback(
                NSAttributeDescription(attribute),
                record.source(of: attribute.name).map(NSAttributeDescription.init))
        }
    }
}

/// The first error of a mapping where nothing could be thrown.
final class MappingFaults {
    private var first: StoreError?

    func add(_ error: StoreError) { first = first ?? error }

    func rethrow() throws {
        if let first { throw first }
    }
}
