import Primitives
import RecordStore

/// All declarations of all classes that have a meta object.
enum FieldRegistry {
    /// In a wrapper's slot: the rest is the index of a declaration, not an offset.
    static let declarationBit: UInt16 = 0x8000

    /// A declaration as the source has it, which each class below its own registers once more.
    private struct Origin: Hashable {
        var owner: ObjectIdentifier
        var keyPath: KeyPathString
    }

    private struct State {
        var declarations: [FieldDeclaration] = []
        var firstIndices: [Origin: UInt16] = [:]
        /// The declarations of the meta objects that are being built, the innermost last: building
        /// one may ask for another.
        var collected: [[FieldDeclaration]] = []
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
            let origin = Origin(owner: declaration.terms.owner, keyPath: declaration.keyPath)
            declaration.keptIndex = state.firstIndices[origin, default: UInt16(index)]
            state.firstIndices[origin] = declaration.keptIndex
            state.declarations.append(declaration)
            if let innermost = state.collected.indices.last {
                state.collected[innermost].append(declaration)
            }
            return UInt16(index) | declarationBit
        }
        guard let slot else { Log.abort("a program declares fewer than 32,768 fields") }
        return slot
    }

    static func declaration(_ slot: UInt16) -> FieldDeclaration {
        state.withLock { $0.declarations[Int(slot & ~declarationBit)] }
    }

    /// The declaration of a wrapper that knows its type.
    static func field<V>(_ slot: UInt16, of type: V.Type) -> ValueField<V> {
        let declaration = declaration(slot)
        guard let field = declaration as? ValueField<V> else {
            Log.abort("“\(declaration.keyPath)” is no property of the type \(type)")
        }
        return field
    }

    /// The declarations that are registered while a meta object is built.
    static func collect(
        _ build: () -> CoreStoreObject
    ) -> (object: CoreStoreObject, declarations: [FieldDeclaration]) {
        state.withLock { $0.collected.append([]) }
        let object = build()
        return (object, state.withLock { $0.collected.removeLast() })
    }
}

/// The declarations of a class. One meta object for each class answers key paths.
final class ClassMeta: @unchecked Sendable {
    let object: CoreStoreObject
    /// In the order in which the wrappers of an object are initialised.
    let declarations: [FieldDeclaration]
    /// Whether the class has properties that are objects of their own.
    let hasLegacyProperties: Bool

    private init(object: CoreStoreObject, declarations: [FieldDeclaration]) {
        hasLegacyProperties = LegacyProperty.adopt(object)
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
        let plan = FieldPlan.replace(with: nil)
        let (object, declarations) = FieldRegistry.collect { type.init(asMeta: ()) }
        FieldPlan.restore(plan)
        let meta = ClassMeta(object: object, declarations: declarations)
        cache.withLock { $0[key] = meta }
        return meta
    }

    /// The value of a property where its type does not know the stored one.
    func unknownValue<V>(_ name: KeyPathString) -> V? {
        (declaration(name) as? ValueField<V>)?.unknownValue()
    }

    /// The meta object of a class, with its own type.
    static func object<O: CoreStoreObject>(_ type: O.Type) -> O {
        guard let object = of(type).object as? O else {
            Log.abort("the meta object of \(type) is of its class")
        }
        return object
    }
}

extension ClassMeta {
    func declaration(_ name: KeyPathString) -> FieldDeclaration? {
        declarations.first { $0.keyPath == name }
    }

    /// A property with those that affect it, directly or through computed ones.
    func names(affecting name: KeyPathString) -> Set<KeyPathString> {
        var (found, open): (Set<KeyPathString>, [KeyPathString]) = ([name], [name])
        while let next = open.popLast() {
            for other in declaration(next)?.terms.affectedByKeyPaths() ?? []
            where found.insert(other).inserted {
                open.append(other)
            }
        }
        return found
    }
}

extension FieldDeclaration {
    /// Whether the property is computed from properties that it does not name.
    var namesNoSource: Bool {
        isComputed && terms.affectedByKeyPaths().allSatisfy { $0.contains(".") }
    }
}
