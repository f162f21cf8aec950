// `@Field.Coded` without a coder, for types that say themselves how they are encoded: Foundation's
// classes by a secure archive, `Codable` values as JSON.

extension FieldContainer.Coded where V: DefaultNSSecureCodable {
    /// A value of one of Foundation's classes, with a default.
    @inlinable
    public init(
        wrappedValue initial: @autoclosure () -> V,
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(FieldCoders.DefaultNSSecureCoding<V>.self), initial: initial(),
                    dynamic: nil, customGetter(), customSetter()))
    }

    /// A value of one of Foundation's classes, whose first value is evaluated for each new object.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = [],
        dynamicInitialValue: @autoclosure () -> (() -> V)
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(FieldCoders.DefaultNSSecureCoding<V>.self), initial: nil,
                    dynamic: dynamicInitialValue(), customGetter(), customSetter()))
    }
}

extension FieldContainer.Coded where V: FieldOptionalType, V.Wrapped: DefaultNSSecureCodable {
    /// A value of one of Foundation's classes that may be nil, and begins as nil unless it is given
    /// a default.
    @inlinable
    public init(
        wrappedValue initial: @autoclosure () -> V = nil,
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(optional: FieldCoders.DefaultNSSecureCoding<V.Wrapped>.self),
                    initial: initial(), dynamic: nil, customGetter(), customSetter()))
    }

    /// A value of one of Foundation's classes that may be nil, whose first value is evaluated for
    /// each new object.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = [],
        dynamicInitialValue: @autoclosure () -> (() -> V)
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(optional: FieldCoders.DefaultNSSecureCoding<V.Wrapped>.self),
                    initial: nil, dynamic: dynamicInitialValue(), customGetter(), customSetter()))
    }
}

extension FieldContainer.Coded where V: Codable {
    /// A `Codable` value as JSON, with a default.
    @inlinable
    public init(
        wrappedValue initial: @autoclosure () -> V,
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(FieldCoders.Json<V>.self), initial: initial(), dynamic: nil,
                    customGetter(), customSetter()))
    }

    /// A `Codable` value as JSON, whose first value is evaluated for each new object.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = [],
        dynamicInitialValue: @autoclosure () -> (() -> V)
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(FieldCoders.Json<V>.self), initial: nil,
                    dynamic: dynamicInitialValue(), customGetter(), customSetter()))
    }
}

extension FieldContainer.Coded where V: FieldOptionalType & Codable, V.Wrapped: Codable {
    /// A `Codable` value as JSON that may be nil, and begins as nil unless it is given a default.
    @inlinable
    public init(
        wrappedValue initial: @autoclosure () -> V = nil,
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(optional: FieldCoders.Json<V.Wrapped>.self), initial: initial(),
                    dynamic: nil, customGetter(), customSetter()))
    }

    /// A `Codable` value as JSON that may be nil, whose first value is evaluated for each new
    /// object.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = [],
        dynamicInitialValue: @autoclosure () -> (() -> V)
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(optional: FieldCoders.Json<V.Wrapped>.self), initial: nil,
                    dynamic: dynamicInitialValue(), customGetter(), customSetter()))
    }
}
