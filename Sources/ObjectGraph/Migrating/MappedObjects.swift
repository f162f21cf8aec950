import RecordStore

/// An attribute of a model version, as mappings see it.
public struct NSAttributeDescription: Hashable, Sendable {
    private let attribute: MappedAttribute

    init(_ attribute: MappedAttribute) { self.attribute = attribute }

    private var declaration: AttributeDescription { attribute.declaration }

    /// The attribute's name in the store.
    public var name: KeyPathString { declaration.name }
    /// The attribute's type.
    public var attributeType: NSAttributeType { NSAttributeType(declaration.type) }
    /// Whether the attribute may be nil.
    public var isOptional: Bool { declaration.isOptional }
    /// The name that the attribute had in the version before: its own unless the model states
    /// another.
    public var renamingIdentifier: String? { declaration.previousName ?? declaration.name }
    /// The statement that makes the model another one though nothing else differs.
    public var versionHashModifier: String? { declaration.versionHashModifier }
    /// The value with which new objects begin, of the type that mappings read. Files do not keep
    /// it, so that an attribute of the earlier version has one only where the program has the
    /// version.
    public var defaultValue: Any? { ValueBridge.boxed(declaration.defaultValue) }

    public static func == (left: NSAttributeDescription, right: NSAttributeDescription) -> Bool {
        left.attribute === right.attribute || left.parts == right.parts
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// What a mapping can see.
    private var parts: AttributeDescription {
        var parts = declaration
        parts.previousName = renamingIdentifier
        parts.isCoded = false
        return parts
    }
}

/// An object of the earlier version, which a mapping reads. It is valid during the mapping's call
/// only.
///
/// A number or a `Bool` is an `NSNumber`, which casts to every type that can hold it:
/// `source["age"] as? Int`. Other values are `Decimal`, `String`, `Data`, `Date`, `UUID` and `URL`;
/// a coded property is its `Data`.
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
    /// the entity does not have, and a value that cannot be read, end the migration and leave the
    /// file unchanged.
    public subscript(attribute: KeyPathString) -> Any? {
        value(attribute).flatMap { ValueBridge.boxed($0) }
    }

    /// The value as the store has it; nil for an attribute that cannot be read.
    func value(_ attribute: KeyPathString) -> Value? {
        do throws(StoreError) {
            guard let value = try record.value(attribute) else {
                faults.add(
                    StoreError(
                        .invalidArgument, "\(entityName) has no attribute “\(attribute)” to read"))
                return nil
            }
            return value
        } catch {
            faults.add(error)
            return nil
        }
    }

    /// The value of an attribute of the earlier version; nil where it has none.
    public subscript(attribute: NSAttributeDescription) -> Any? { self[attribute.name] }

    /// Calls a closure with each attribute, those of superentities first.
    public func enumerateAttributes(_ callback: (_ attribute: NSAttributeDescription) -> Void) {
        for attribute in record.attributes { callback(NSAttributeDescription(attribute)) }
    }
}

/// An object of the later version, which a mapping fills. It begins with the defaults and initial
/// values of its entity, and has the links of the earlier object. Its values have the types of
/// those of ``UnsafeSourceObject``. It is valid during the mapping's call only.
public final class UnsafeDestinationObject {
    private let record: DestinationRecord?
    private let faults: MappingFaults

    init(_ record: DestinationRecord?, _ faults: MappingFaults) {
        self.record = record
        self.faults = faults
    }

    /// The entity's name in the later version.
    public var entityName: EntityName { record?.entityName ?? "" }

    /// The value of an attribute of the later version. A number that is set in a `Float`, `Double`
    /// or `Decimal` becomes the nearest one; other values are converted where nothing of them is
    /// lost. One that the attribute cannot hold, and an attribute that the entity does not have,
    /// end the migration and leave the file unchanged.
    public subscript(attribute: KeyPathString) -> Any? {
        get { record?.value(attribute).flatMap { ValueBridge.boxed($0) } }
        set {
            guard let value = ValueBridge.value(newValue) else {
                return refuse(newValue, attribute)
            }
            set(value, attribute)
        }
    }

    /// Sets a value as the store has it.
    func set(_ value: Value, _ attribute: KeyPathString) {
        guard let record, !record.set(value, for: attribute) else { return }
        refuse(ValueBridge.native(value), attribute)
    }

    private func refuse(_ value: Any?, _ attribute: KeyPathString) {
        faults.add(
            StoreError(
                .invalidArgument,
                "\(entityName).\(attribute) has no place for "
                    + "\(value.map { "“\($0)”" } ?? "nil")"))
    }

    /// The value of an attribute of the later version.
    public subscript(attribute: NSAttributeDescription) -> Any? {
        get { self[attribute.name] }
        set { self[attribute.name] = newValue }
    }

    /// Calls a closure with each attribute, those of superentities first, and with the attribute of
    /// the earlier version that it comes from: the one with its name, or with the earlier name that
    /// it declares. Nil for a new one.
    public func enumerateAttributes(
        _ callback: (
            _ attribute: NSAttributeDescription, _ sourceAttribute: NSAttributeDescription?
        ) -> Void
    ) {
        guard let record else { return }
        for (attribute, source) in zip(record.attributes, record.sources) {
            callback(NSAttributeDescription(attribute), source.map(NSAttributeDescription.init))
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
