import RecordStore

// A raw value that its type does not know must not stop the program: the file may come from a newer
// version of it. An optional reads it as nil, another property as its first value. A declaration
// needs no more than the names of the protocols.

extension RawRepresentable where RawValue: FieldStorableType, Self: FieldStorableType {
    public typealias FieldStoredNativeType = RawValue.FieldStoredNativeType

    public static func cs_fromFieldStoredNativeType(
        _ value: RawValue.FieldStoredNativeType
    ) -> Self {
        let raw = RawValue.cs_fromFieldStoredNativeType(value)
        return Self(rawValue: raw) ?? cs_first(raw)
    }

    public static var cs_rawAttributeType: NSAttributeType { RawValue.cs_rawAttributeType }

    public static func cs_load(_ row: FieldRow, _ offset: Int) -> Self {
        cs_known(row, offset) ?? cs_first(RawValue.cs_load(row, offset))
    }

    public static func cs_known(_ row: FieldRow, _ offset: Int) -> Self? {
        RawValue.cs_known(row, offset).flatMap { Self(rawValue: $0) }
    }

    private static func cs_first(_ unknown: RawValue) -> Self {
        func first<C: CaseIterable>(of type: C.Type) -> Any? { type.allCases.first }
        guard let type = Self.self as? any CaseIterable.Type, let value = first(of: type) as? Self
        else {
            Log.abort(
                "\(Self.self) does not know the stored \(unknown): declare it CaseIterable, or "
                    + "the property optional")
        }
        Log.message(.warning, "\(Self.self) does not know the stored \(unknown)")
        return value
    }

    public func cs_store(_ row: inout FieldRow, _ offset: Int) {
        rawValue.cs_store(&row, offset)
    }

    public func cs_toFieldStoredNativeType() -> Any? { rawValue.cs_toFieldStoredNativeType() }
}

extension RawRepresentable where RawValue: QueryableAttributeType, Self: QueryableAttributeType {
    public static var cs_rawAttributeType: NSAttributeType { RawValue.cs_rawAttributeType }

    public typealias QueryableNativeType = Any

    public func cs_toQueryableNativeType() -> Any { rawValue.cs_toQueryableNativeType() }

    public static func cs_fromQueryableNativeType(_ value: Any) -> Self? {
        RawValue.cs_value(of: value).flatMap { Self(rawValue: $0) }
    }
}

extension RawRepresentable
where
    RawValue: FieldStorableType & QueryableAttributeType,
    Self: FieldStorableType & QueryableAttributeType
{
    public static var cs_rawAttributeType: NSAttributeType { RawValue.cs_rawAttributeType }
}
