import RecordStore

/// Section names that a property of an object computes. Used where the view lives alone.
final class ComputedSections {
    private let link: WeakLink<DataStack>
    private let stores: [AttachedStore]
    private let type: CoreStoreObject.Type
    private let declaration: FieldDeclaration?
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
        declaration = ClassMeta.of(type).declaration(keyPath)
    }

    deinit { rest() }

    func rest() {
        context?.end()
        context = nil
    }

    func name(_ reader: RecordReader, _ number: ObjectNumber) throws -> String {
        guard let declaration,
            let store = stores.first(where: { $0.database.schema === reader.schema }),
            let entity = store.entities[ObjectIdentifier(type)], let context = context(reader),
            let object = try context.object(number, in: entity.hierarchy, of: store)
        else { return "" }
        return SectionRule.sectionName(of: declaration.anyValue(of: object))
    }

    private func context(_ reader: RecordReader) -> ReaderContext? {
        if let context, context.reader === reader { return context }
        context?.end()
        context = link.object.map { ReaderContext(of: $0, reader) }
        return context
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
