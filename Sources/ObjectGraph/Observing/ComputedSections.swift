import RecordStore

/// Section names that a property of an object computes. Used where the view lives alone.
final class ComputedSections {
    private let link: WeakLink<DataStack>
    private let stores: [AttachedStore]
    private let type: CoreStoreObject.Type
    private let path: SectionPath
    /// For the reader that was asked last; nil between two uses, because it keeps the file's space
    /// from being reused.
    private var context: ReaderContext?

    init(
        _ type: CoreStoreObject.Type, _ keyPath: KeyPathString, _ stores: [AttachedStore],
        _ link: WeakLink<DataStack>
    ) {
        self.link = link
        self.stores = stores
        self.type = type
        path = SectionPath(keyPath, from: type)
    }

    deinit { rest() }

    func rest() {
        context?.end()
        context = nil
    }

    func name(_ reader: RecordReader, _ number: ObjectNumber) throws -> String {
        guard let property = path.property,
            let store = stores.first(where: { $0.database.schema === reader.schema }),
            let entity = store.entities[ObjectIdentifier(type)], let context = context(reader),
            let first = try context.object(number, in: entity.hierarchy, of: store),
            let object = try path.end(from: first, in: context)
        else { return "" }
        return SectionRule.sectionName(of: property.sectionValue(of: object))
    }

    private func context(_ reader: RecordReader) -> ReaderContext? {
        if let context, context.reader === reader { return context }
        context?.end()
        context = link.object.map { ReaderContext(of: $0, reader) }
        return context
    }
}

/// A path to the property that names sections, by the classes of the objects on its way.
struct SectionPath {
    private let steps: [KeyPathString]
    /// The property at the end; nil where the classes declare none, and for a relationship.
    private(set) var property: FieldDeclaration?

    init(_ keyPath: KeyPathString, from type: CoreStoreObject.Type) {
        let names = keyPath.split(separator: ".").map(String.init)
        steps = names.dropLast()
        var type = type
        for name in steps {
            guard case .relationship(let relationship) = ClassMeta.of(type).declaration(name)?.kind,
                relationship.kind == .toOne
            else { return }
            type = relationship.destination
        }
        property = names.last.flatMap { ClassMeta.of(type).declaration($0) }
        if case .relationship = property?.kind { property = nil }
    }

    /// The object that the path's relationships lead to; nil where one of them leads to none.
    fileprivate func end(
        from first: CoreStoreObject, in context: ReaderContext
    ) throws -> CoreStoreObject? {
        var object = first
        for name in steps {
            guard let raw = object.raw, let relationship = raw.entity.relationship(named: name),
                let number = try context.linkedNumbers(of: object, raw, relationship).first
            else { return nil }
            let schema = raw.store.database.schema
            let hierarchy = schema.knownEntity(tag: relationship.destinationTag).hierarchy
            guard let next = try context.object(number, in: hierarchy, of: raw.store) else {
                return nil
            }
            object = next
        }
        return object
    }
}

extension FieldDeclaration {
    /// Whether a record has the value that the property has.
    var isInRecord: Bool {
        if case .stored = kind { !isComputed } else { false }
    }
}

/// Objects as a given reader shows them, beside those of the view.
final class ReaderContext: ObjectContext {
    fileprivate let reader: RecordReader

    init(of stack: DataStack, _ reader: RecordReader) {
        self.reader = reader
        super.init(of: stack, allowsChanges: false)
    }

    override func openAccess(to store: AttachedStore) throws(StoreError) -> StoreAccess {
        StoreAccess(store, reader)
    }
}
