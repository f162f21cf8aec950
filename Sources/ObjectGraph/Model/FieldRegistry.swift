import RecordStore
import Synchronization

/// What a property wrapper declares, as its class's meta object told it.
final class FieldDeclaration: @unchecked Sendable {
    enum Content {
        case stored(NSAttributeType, isOptional: Bool)
        case relationship(RelationshipDeclaration)
    }

    let keyPath: String
    /// The class that declares the property.
    let owner: ObjectIdentifier
    let content: Content
    let defaultValue: Value
    /// Makes the stored form of the value.
    let dynamicInitialValue: (() -> Any?)?
    let versionHashModifier: String?
    let previousName: String?
    let affectedByKeyPaths: Set<String>
    /// A ``Getter`` and a ``Setter`` of the property's type, for the wrapper that knows it.
    let customGetter: Any?
    let customSetter: Any?
    /// Whether values are written by the entity's type, because their own does not tell it.
    let isWrittenByType: Bool
    /// The index by which wrappers of meta objects name the declaration.
    fileprivate(set) var index: UInt16 = 0

    init(
        keyPath: String, owner: ObjectIdentifier, content: Content, defaultValue: Value = .null,
        dynamicInitialValue: (() -> Any?)? = nil, versionHashModifier: String? = nil,
        previousName: String? = nil, affectedByKeyPaths: Set<String> = [],
        customGetter: Any? = nil, customSetter: Any? = nil, isWrittenByType: Bool = false
    ) {
        self.keyPath = keyPath
        self.owner = owner
        self.content = content
        self.defaultValue = defaultValue
        self.dynamicInitialValue = dynamicInitialValue
        self.versionHashModifier = versionHashModifier
        self.previousName = previousName
        self.affectedByKeyPaths = affectedByKeyPaths
        self.customGetter = customGetter
        self.customSetter = customSetter
        self.isWrittenByType = isWrittenByType
    }

    /// A property's own way of being read and written. Neither names the class that declares the
    /// property: a proxy of a class below has to find them too.
    typealias Getter<V> = (CoreStoreObject, FieldDeclaration) -> V
    typealias Setter<V> = (CoreStoreObject, FieldDeclaration, V) -> Void

    func getter<V>(of type: V.Type) -> Getter<V>? { customGetter as? Getter<V> }
    func setter<V>(of type: V.Type) -> Setter<V>? { customSetter as? Setter<V> }

    /// Whether reading or writing takes more than the offset.
    var isCustom: Bool { customGetter != nil || customSetter != nil || isWrittenByType }
}

/// The two ends of a relationship.
struct RelationshipDeclaration {
    var kind: RelationshipLayout.Kind
    var destination: CoreStoreObject.Type
    /// The name of the inverse; found only when the schema is built, because two classes may name
    /// each other.
    var inverseName: (() -> String)?
    var deleteRule: RelationshipDescription.DeleteRule
    var minCount: Int
    var maxCount: Int
}

/// All declarations of all classes that have a meta object.
enum FieldRegistry {
    /// In a wrapper's slot: the rest is the index of a declaration, not an offset.
    static let declarationBit: UInt16 = 0x8000

    private struct State {
        var declarations: [FieldDeclaration] = []
        /// What the meta object that is being built has declared so far.
        var collected: [FieldDeclaration] = []
    }

    private static let state = Mutex(State())

    /// Called by a wrapper that is initialised without a plan; returns its slot.
    static func register(_ declaration: FieldDeclaration) -> UInt16 {
        let slot: UInt16? = state.withLock { state in
            let index = state.declarations.count
            guard index < Int(declarationBit) else {
                return nil
            }
            declaration.index = UInt16(index)
            state.declarations.append(declaration)
            state.collected.append(declaration)
            return UInt16(index) | declarationBit
        }
        guard let slot else { Log.abort("a program declares fewer than 32,768 fields") }
        return slot
    }

    static func declaration(_ slot: UInt16) -> FieldDeclaration {
        state.withLock { $0.declarations[Int(slot & ~declarationBit)] }
    }

    static func beginCollecting() { state.withLock { $0.collected = [] } }

    static func collected() -> [FieldDeclaration] { state.withLock { $0.collected } }
}

/// What a class declares: one meta object a class answers key paths.
final class ClassMeta: @unchecked Sendable {
    let object: CoreStoreObject
    /// In the order in which the wrappers of an object are initialised.
    let declarations: [FieldDeclaration]

    private init(object: CoreStoreObject, declarations: [FieldDeclaration]) {
        self.object = object
        self.declarations = declarations
    }

    private static let cache = Mutex<[ObjectIdentifier: ClassMeta]>([:])
    /// One meta object is built at a time, so that it is known whose wrappers register.
    private static let building = NSRecursiveLock()

    static func of(_ type: CoreStoreObject.Type) -> ClassMeta {
        let key = ObjectIdentifier(type)
        if let known = cache.withLock({ $0[key] }) { return known }
        building.lock()
        defer { building.unlock() }
        if let known = cache.withLock({ $0[key] }) { return known }
        FieldRegistry.beginCollecting()
        let plan = FieldPlan.replace(with: nil)
        let object = type.init(asMeta: ())
        FieldPlan.restore(plan)
        let meta = ClassMeta(object: object, declarations: FieldRegistry.collected())
        cache.withLock { $0[key] = meta }
        return meta
    }

    /// The meta object of a class, with its own type.
    static func object<O: CoreStoreObject>(_ type: O.Type) -> O {
        guard let object = of(type).object as? O else {
            Log.abort("the meta object of \(type) is of its class")
        }
        return object
    }
}
