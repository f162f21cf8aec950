// The initialisers of `@Field.Coded`: by a coder's type, by a pair of closures, and without a coder
// for the classes that Foundation encodes; each with a default, or with a first value of each
// object's own.

extension FieldContainer.Coded {
    /// A property with a default, by a coder's type.
    @inlinable
    public init<Coder: FieldCoderType>(
        wrappedValue initial: @autoclosure () -> V,
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        coder: Coder.Type,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) where Coder.FieldStoredValue == V {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(coder), initial: initial(), dynamic: nil, customGetter(),
                    customSetter()))
    }

    /// A property whose first value is evaluated for each new object, by a coder's type.
    @inlinable
    public init<Coder: FieldCoderType>(
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        coder: Coder.Type,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = [],
        dynamicInitialValue: @autoclosure () -> (() -> V)
    ) where Coder.FieldStoredValue == V {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(coder), initial: nil, dynamic: dynamicInitialValue(),
                    customGetter(), customSetter()))
    }

    /// A property with a default, by a pair of closures, which are also called for nil.
    @inlinable
    public init(
        wrappedValue initial: @autoclosure () -> V,
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        coder: @autoclosure () -> (encode: (V) -> Data?, decode: (Data?) -> V),
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(coder()), initial: initial(), dynamic: nil, customGetter(),
                    customSetter()))
    }

    /// A property whose first value is evaluated for each new object, by a pair of closures.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        coder: @autoclosure () -> (encode: (V) -> Data?, decode: (Data?) -> V),
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = [],
        dynamicInitialValue: @autoclosure () -> (() -> V)
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(coder()), initial: nil, dynamic: dynamicInitialValue(),
                    customGetter(), customSetter()))
    }
}

extension FieldContainer.Coded where V: FieldOptionalType {
    /// A property that begins as nil unless it is given a default, by a coder's type.
    @inlinable
    public init<Coder: FieldCoderType>(
        wrappedValue initial: @autoclosure () -> V = nil,
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        coder: Coder.Type,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) where Coder.FieldStoredValue == V.Wrapped {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(optional: coder), initial: initial(), dynamic: nil, customGetter(),
                    customSetter()))
    }

    /// A property that may be nil, whose first value is evaluated for each new object, by a coder's
    /// type.
    @inlinable
    public init<Coder: FieldCoderType>(
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        coder: Coder.Type,
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = [],
        dynamicInitialValue: @autoclosure () -> (() -> V)
    ) where Coder.FieldStoredValue == V.Wrapped {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(optional: coder), initial: nil, dynamic: dynamicInitialValue(),
                    customGetter(), customSetter()))
    }

    /// A property that begins as nil unless it is given a default, by a pair of closures.
    @inlinable
    public init(
        wrappedValue initial: @autoclosure () -> V = nil,
        _ keyPath: @autoclosure () -> KeyPathString,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        coder: @autoclosure () -> (encode: (V) -> Data?, decode: (Data?) -> V),
        customGetter: @autoclosure () -> FieldContainer.Getter<V>? = nil,
        customSetter: @autoclosure () -> FieldContainer.Setter<V>? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    keyPath(), versionHashModifier(), previousVersionKeyPath(), affectedByKeyPaths,
                    FieldCoding(coder()), initial: initial(), dynamic: nil, customGetter(),
                    customSetter()))
    }
}
