import RecordStore

#if !canImport(ObjectiveC)
    /// The calls that an observer of a property receives, and the values that they have.
    public struct NSKeyValueObservingOptions: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The value after the change.
        public static let new = NSKeyValueObservingOptions(rawValue: 1)
        /// The value before the change.
        public static let old = NSKeyValueObservingOptions(rawValue: 2)
        /// A first call at once, with the current value.
        public static let initial = NSKeyValueObservingOptions(rawValue: 4)
        /// A separate call before each change.
        public static let prior = NSKeyValueObservingOptions(rawValue: 8)
    }

    /// The kind of a property's change.
    public enum NSKeyValueChange: UInt, Sendable {
        /// A value was assigned. The library reports no other kind.
        case setting = 1
        /// Kinds that code written for key-value observing may name.
        case insertion, removal, replacement
    }
#endif

/// A change of a property.
public struct CoreStoreObjectValueDiff<Value> {
    /// The kind of the change.
    public let kind: NSKeyValueChange
    /// The value after the change; nil unless it was asked for, and before the change.
    public let newValue: Value?
    /// The value before the change; nil unless it was asked for.
    public let oldValue: Value?
    /// Whether the change is still to come.
    public let isPrior: Bool
}

/// A property that is observed, as the observation reads it.
private struct ObservedProperty<V> {
    /// Those whose changes count: the property, and those that it is computed from.
    let names: Set<KeyPathString>
    let read: (CoreStoreObject) -> V
}

/// An observation of a property, which lasts as long as the program keeps it.
///
/// Of an object of a stack's view it delivers the changes of commits, where the view lives; of an
/// object of a transaction each write, on the thread that writes.
public protocol CoreStoreObjectKeyValueObservation: AnyObject {
    /// Ends the observation. No further calls are made.
    func invalidate()
}

/// An observation of a property of one object.
final class PropertyObservation: CoreStoreObjectKeyValueObservation {
    private(set) weak var object: CoreStoreObject?
    /// Nil for an object of a transaction.
    private var watch: ObjectWatch?
    /// Nil for an object of a transaction.
    private let link: WeakLink<DataStack>?
    /// Nil for an object of the view.
    private weak var context: EditingContext?
    private let names: Set<KeyPathString>
    private let tellPrior: ((CoreStoreObject) -> Void)?
    private let readOld: (CoreStoreObject) -> Void
    private var tell: ((CoreStoreObject) -> Void)?
    /// Of the delivery that is running.
    private var observed: CoreStoreObject?
    private let reading: ReadingState

    fileprivate init<O: CoreStoreObject, V>(
        _ object: O, _ property: ObservedProperty<V>, _ options: NSKeyValueObservingOptions,
        _ stack: DataStack?, _ context: EditingContext?,
        _ handler: @escaping (O, CoreStoreObjectValueDiff<V>) -> Void
    ) {
        self.object = object
        watch = stack.map { ObjectWatch(object.objectID(), namesOf: property.names, $0) }
        link = stack?.link
        self.context = context
        names = property.names
        let old = OldValue<V>()
        let reading = ReadingState()
        self.reading = reading
        func read(_ object: CoreStoreObject) -> V {
            reading.isUnderWay = true
            defer { reading.isUnderWay = false }
            return property.read(object)
        }
        readOld = { object in
            if options.contains(.old) { old.value = read(object) }
        }
        tellPrior =
            options.contains(.prior)
            ? { object in
                guard let object = object as? O else { return }
                handler(
                    object,
                    CoreStoreObjectValueDiff(
                        kind: .setting, newValue: nil, oldValue: old.value, isPrior: true))
            } : nil
        tell = { object in
            guard let object = object as? O else { return }
            let new = options.contains(.new) ? read(object) : nil
            handler(
                object,
                CoreStoreObjectValueDiff(
                    kind: .setting, newValue: new, oldValue: old.value, isPrior: false))
            old.value = nil
        }
    }

    /// The first call, where it was asked for. Adding the observation may move the view without a
    /// call, so this comes after it.
    fileprivate func tellInitial(_ options: NSKeyValueObservingOptions) {
        guard options.contains(.initial), let object else { return }
        tell?(object)
    }

    deinit { leave() }

    private func leave() {
        link?.object?.observers.remove(self)
        context?.writeObservers?.remove(self)
    }

    func invalidate() {
        tell = nil
        leave()
    }
}

extension PropertyObservation: WriteObserver {
    func follows(_ name: KeyPathString) -> Bool { names.contains(name) }

    /// Tells of a write to the property, or to one that it is computed from.
    func tell(_ moment: WriteMoment, of name: KeyPathString) {
        // A getter that is asked for the value may keep it in the property.
        guard tell != nil, !reading.isUnderWay, names.contains(name), let object else { return }
        switch moment {
        case .before:
            readOld(object)
            tellPrior?(object)
        case .after: tell?(object)
        }
    }
}

/// Whether an observed property is being read to be told.
private final class ReadingState {
    var isUnderWay = false
}

private final class OldValue<V> {
    var value: V?
}

extension PropertyObservation: ViewParticipant {
    func prepare(_ delivery: Delivery) -> Bool {
        // An object of a storage that was removed keeps its values.
        guard tell != nil, let object, object.raw?.store.isDetached != true else { return false }
        let found = watch?.fate(in: delivery, "an observed property could not be compared.")
        guard let (fate, changed) = found, fate == .updated, !changed.isDisjoint(with: names)
        else { return false }
        observed = object
        return true
    }

    func tellBefore(_ delivery: Delivery) {
        guard let observed, tell != nil else { return }
        readOld(observed)
        tellPrior?(observed)
    }

    func tellChanges(_ delivery: Delivery) {
        let object = observed
        observed = nil
        if let object { tell?(object) }
    }
}

extension DynamicObject where Self: CoreStoreObject {
    /// Calls a closure when a stored property changes, as long as the result is kept. For an object
    /// of a stack's view that is at commits, where the view lives; for an object of a transaction
    /// at each write, on the thread that writes, even when the value stays equal. The object is not
    /// retained.
    ///
    /// - Parameters:
    ///   - property: the property with its dollar: `\.$name`.
    ///   - options: the values that a call has, and whether there are calls at once and before
    ///     each change.
    ///   - changeHandler: receives the object and the change.
    public func observe<B: CoreStoreObject, V>(
        _ property: KeyPath<Self, FieldContainer<B>.Stored<V>>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, CoreStoreObjectValueDiff<V>) -> Void
    ) -> any CoreStoreObjectKeyValueObservation {
        observation(Where<Self>.name(property), options, changeHandler)
    }

    /// Calls a closure when a computed property changes: when one of its `affectedByKeyPaths` does.
    public func observe<B: CoreStoreObject, V>(
        _ property: KeyPath<Self, FieldContainer<B>.Virtual<V>>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, CoreStoreObjectValueDiff<V>) -> Void
    ) -> any CoreStoreObjectKeyValueObservation {
        observation(Where<Self>.name(property), options, changeHandler)
    }

    /// Calls a closure when a coded property changes.
    public func observe<B: CoreStoreObject, V>(
        _ property: KeyPath<Self, FieldContainer<B>.Coded<V>>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, CoreStoreObjectValueDiff<V>) -> Void
    ) -> any CoreStoreObjectKeyValueObservation {
        observation(Where<Self>.name(property), options, changeHandler)
    }

    /// Calls a closure when a relationship changes: when it leads to other objects, or to the same
    /// ones in another order, whichever end was assigned. The values of these objects do not count.
    public func observe<B: CoreStoreObject, V: FieldRelationshipType>(
        _ property: KeyPath<Self, FieldContainer<B>.Relationship<V>>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, CoreStoreObjectValueDiff<V>) -> Void
    ) -> any CoreStoreObjectKeyValueObservation {
        let name = Where<Self>.name(property)
        guard let relationship = raw?.entity.relationship(named: name),
            let slot = UInt16(exactly: relationship.id)
        else {
            Log.abort("only relationships that the object's store has are observed")
        }
        return observation(
            ObservedProperty(names: ClassMeta.of(type(of: self)).names(affecting: name)) {
                V.cs_load($0, slot)
            }, options, changeHandler)
    }

    private func observation<V>(
        _ name: KeyPathString, _ options: NSKeyValueObservingOptions,
        _ handler: @escaping (Self, CoreStoreObjectValueDiff<V>) -> Void
    ) -> any CoreStoreObjectKeyValueObservation {
        let meta = ClassMeta.of(type(of: self))
        guard let field = meta.declaration(name) as? ValueField<V> else {
            Log.abort("only properties of objects are observed")
        }
        return observation(
            ObservedProperty(names: meta.names(affecting: name)) { field.value(of: $0) }, options,
            handler)
    }

    private func observation<V>(
        _ property: ObservedProperty<V>, _ options: NSKeyValueObservingOptions,
        _ handler: @escaping (Self, CoreStoreObjectValueDiff<V>) -> Void
    ) -> any CoreStoreObjectKeyValueObservation {
        guard let raw else { Log.abort("only properties of objects are observed") }
        if let context = raw.context as? EditingContext {
            let made = PropertyObservation(
                self, property, options, nil, context, handler)
            context.add(made)
            made.tellInitial(options)
            return made
        }
        guard raw.context is StackView, let stack = raw.context.stack else {
            Log.abort("properties are observed of objects of a stack's view or a transaction")
        }
        let made = PropertyObservation(
            self, property, options, stack, nil, handler)
        stack.withView { _ in stack.observers.add(made, .property) }
        made.tellInitial(options)
        return made
    }
}
