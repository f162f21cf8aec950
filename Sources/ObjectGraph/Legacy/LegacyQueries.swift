import Query

// Comparisons, orders and groups by the classes for properties: `\.age > 3`, `.ascending(\.age)`.

/// The property has this value.
public func == <O: CoreStoreObject, A: LegacyAttribute>(
    left: KeyPath<O, A>, right: A.ReturnValueType
) -> Where<O> {
    Where.compare(left, .equal, right)
}

/// The property does not have this value. An object whose property is nil fulfils it too, unless
/// the value is nil.
public func != <O: CoreStoreObject, A: LegacyAttribute>(
    left: KeyPath<O, A>, right: A.ReturnValueType
) -> Where<O> {
    !Where.compare(left, .equal, right)
}

/// The property is less than a value.
public func < <O: CoreStoreObject, A: LegacyAttribute>(
    left: KeyPath<O, A>, right: A.ReturnValueType
) -> Where<O> {
    Where.compare(left, .less, right)
}

/// The property is less than a value or equal to it.
public func <= <O: CoreStoreObject, A: LegacyAttribute>(
    left: KeyPath<O, A>, right: A.ReturnValueType
) -> Where<O> {
    Where.compare(left, .lessOrEqual, right)
}

/// The property is greater than a value.
public func > <O: CoreStoreObject, A: LegacyAttribute>(
    left: KeyPath<O, A>, right: A.ReturnValueType
) -> Where<O> {
    Where.compare(left, .greater, right)
}

/// The property is greater than a value or equal to it.
public func >= <O: CoreStoreObject, A: LegacyAttribute>(
    left: KeyPath<O, A>, right: A.ReturnValueType
) -> Where<O> {
    Where.compare(left, .greaterOrEqual, right)
}

// Conditions in closures: `Where<Dog> { $0.age > 3 }`.
extension LegacyAttribute {
    private func compare<Result: DynamicObject>(
        _ operation: Comparison.Operation, _ value: ReturnValueType
    ) -> Where<Result> {
        Where(
            condition: Where<Result>.comparison(
                cs_keyPathString, operation, .constant(ValueBridge.value(compared: value))))
    }

    /// The property has this value.
    public static func == <Result: CoreStoreObject>(
        property: Self, value: ReturnValueType
    ) -> Where<Result> {
        property.compare(.equal, value)
    }

    /// The property does not have this value. An object whose property is nil fulfils it too,
    /// unless the value is nil.
    public static func != <Result: CoreStoreObject>(
        property: Self, value: ReturnValueType
    ) -> Where<Result> {
        let equal: Where<Result> = property.compare(.equal, value)
        return !equal
    }

    /// The property is less than a value.
    public static func < <Result: CoreStoreObject>(
        property: Self, value: ReturnValueType
    ) -> Where<Result> {
        property.compare(.less, value)
    }

    /// The property is less than a value or equal to it.
    public static func <= <Result: CoreStoreObject>(
        property: Self, value: ReturnValueType
    ) -> Where<Result> {
        property.compare(.lessOrEqual, value)
    }

    /// The property is greater than a value.
    public static func > <Result: CoreStoreObject>(
        property: Self, value: ReturnValueType
    ) -> Where<Result> {
        property.compare(.greater, value)
    }

    /// The property is greater than a value or equal to it.
    public static func >= <Result: CoreStoreObject>(
        property: Self, value: ReturnValueType
    ) -> Where<Result> {
        property.compare(.greaterOrEqual, value)
    }
}

extension OrderBy.SortKey where O: CoreStoreObject {
    /// Sorts by an attribute, the least value first.
    public static func ascending<A: LegacyAttribute>(_ keyPath: KeyPath<O, A>) -> OrderBy.SortKey {
        OrderBy.SortKey(Where<O>.name(keyPath), isAscending: true)
    }

    /// Sorts by an attribute, the greatest value first.
    public static func descending<A: LegacyAttribute>(
        _ keyPath: KeyPath<O, A>
    ) -> OrderBy.SortKey {
        OrderBy.SortKey(Where<O>.name(keyPath), isAscending: false)
    }
}

extension GroupBy where O: CoreStoreObject {
    /// Groups by an attribute.
    public init<A: LegacyProperty & AttributeKeyPathStringConvertible>(_ keyPath: KeyPath<O, A>) {
        self.init(Where<O>.name(keyPath))
    }
}

extension SelectClause {
    /// One attribute.
    public init<
        O: CoreStoreObject, A: LegacyProperty & AttributeKeyPathStringConvertible,
        T: QueryableAttributeType
    >(
        _ keyPath: KeyPath<O, A>
    ) where Parameters == (O, T) {
        self.init([SelectTerm<O>.attribute(keyPath)])
    }
}

extension SectionBy where O: CoreStoreObject {
    /// Sections by an attribute.
    @preconcurrency
    public init<A: LegacyProperty & AttributeKeyPathStringConvertible>(
        _ sectionKeyPath: KeyPath<O, A>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) {
        self.init(SectionRule(Where<O>.name(sectionKeyPath), sectionIndexTransformer))
    }
}
