import RecordStore

/// One property of a bulk update with its new value; see `update(_:_:set:)` of
/// ``BaseDataTransaction``.
public struct Assignment<O: DynamicObject>: Sendable {
    let keyPath: KeyPathString
    let operation: AssignedValue

    private init(_ keyPath: KeyPathString, _ operation: AssignedValue) {
        self.keyPath = keyPath
        self.operation = operation
    }
}

extension Assignment where O: CoreStoreObject {
    /// Assigns one value to the property of every object.
    public static func value<B: CoreStoreObject, V: FieldStorableType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>, _ value: V
    ) -> Assignment {
        Assignment(Where<O>.name(keyPath), .set(ValueBridge.value(value)))
    }

    /// Adds a number to the property of each object. The statement throws `.internalError` for a
    /// sum that the property cannot hold.
    public static func sum<B: CoreStoreObject, V: FieldStorableType & AdditiveArithmetic>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>, _ number: V
    ) -> Assignment {
        Assignment(Where<O>.name(keyPath), .add(ValueBridge.value(number)))
    }

    /// Adds a number to the property of each object that has a value; nil stays nil.
    public static func sum<B: CoreStoreObject, V: FieldStorableType & AdditiveArithmetic>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V?>>, _ number: V
    ) -> Assignment {
        Assignment(Where<O>.name(keyPath), .add(ValueBridge.value(number)))
    }
}

/// The operation of an assignment on a property's value.
enum AssignedValue: Sendable {
    case set(Value)
    case add(Value)
}

/// An assignment with the column of the entity that it concerns.
struct ColumnAssignment {
    let field: FieldLayout
    let entityName: String
    private let operation: AssignedValue

    /// Throws for a name that is no attribute of the entity.
    init<O>(_ assignment: Assignment<O>, _ entity: EntityLayout) throws(CoreStoreError) {
        guard let field = entity.field(named: assignment.keyPath) else {
            throw .failure(.query, "\(entity.name) has no attribute “\(assignment.keyPath)”")
        }
        self.field = field
        entityName = entity.name
        operation = assignment.operation
    }

    /// Assigns the property of an object that lives in an editing context. False when it has the
    /// value already.
    @discardableResult
    func assign(
        to object: CoreStoreObject, evenIfEqual: Bool = false
    ) throws(CoreStoreError) -> Bool {
        object.loadRow()
        let old = object.row.buffer.view.value(field)
        let value = try newValue(for: old)
        guard value != nil || evenIfEqual, object.willWrite(UInt16(field.byteOffset)) else {
            return false
        }
        object.row.buffer.setValue(value ?? old, field)
        object.didWrite(UInt16(field.byteOffset))
        return value != nil
    }

    /// Nil when the property has the value already.
    func newValue(for old: Value) throws(CoreStoreError) -> Value? {
        let value: Value
        switch operation {
        case .set(let constant): value = constant
        case .add(let number): value = try sum(old, number)
        }
        return value == old ? nil : value
    }

    private func sum(_ old: Value, _ number: Value) throws(CoreStoreError) -> Value {
        let sum: Value? =
            switch (field.type, old) {
            case (_, .null): .null
            case (.float?, _):
                .float(Float(old.approximation ?? 0) + Float(number.approximation ?? 0))
            case (.double?, _): .double((old.approximation ?? 0) + (number.approximation ?? 0))
            case (.decimal?, _): .decimal(old.decimal + number.decimal)
            default: integerSum(old.decimal + number.decimal)
            }
        guard let sum else {
            throw .failure(
                .validation,
                "\(entityName).\(field.name) cannot hold the sum of \(old.decimal) and "
                    + "\(number.decimal)")
        }
        return sum
    }

    /// Decimals hold the sum of any two integers of 64 bits exactly.
    private func integerSum(_ sum: Decimal) -> Value? {
        guard let type = field.type, let range = type.integerRange, range.contains(sum) else {
            return nil
        }
        let text = "\(sum)"
        return type.isUnsigned ? UInt64(text).map { .uint($0) } : Int64(text).map { .int($0) }
    }
}

extension AttributeType {
    /// The numbers that an integer of the type can be; nil for all other types.
    var integerRange: ClosedRange<Decimal>? {
        switch self {
        case .int8: Decimal(Int8.min)...Decimal(Int8.max)
        case .int16: Decimal(Int16.min)...Decimal(Int16.max)
        case .int32: Decimal(Int32.min)...Decimal(Int32.max)
        case .int64: Decimal(Int64.min)...Decimal(Int64.max)
        case .uint8: 0...Decimal(UInt8.max)
        case .uint16: 0...Decimal(UInt16.max)
        case .uint32: 0...Decimal(UInt32.max)
        case .uint64: 0...Decimal(UInt64.max)
        default: nil
        }
    }
}
