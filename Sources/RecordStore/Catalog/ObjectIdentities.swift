/// How the objects of an open store are named in identities that programs save: which identities
/// it gives out, and which objects those lead to that it or an earlier model gave out.
package struct ObjectIdentities: Sendable {
    package struct Name: Sendable {
        package let entity: String
        package let generation: UInt32
    }

    package let moved: MovedObjects
    /// Of a file that is not migrated, by the tag of the entity.
    private var stored: [UInt16: Name] = [:]
    private let generations: [String: UInt32]

    init(_ moved: MovedObjects = MovedObjects()) {
        self.moved = moved
        generations = moved.generations
    }

    /// The identities of a file that is read by a later schema and not migrated. It gives out those
    /// of the file's own model: in how many steps a writer will migrate it, and so with which
    /// generations, is not known. It resolves both.
    init(
        of stored: Schema, _ moved: MovedObjects, adding steps: [[MovedObjects.Move]]
    ) {
        var later = moved
        for moves in steps { later.add(moves) }
        self.init(later)
        let generations = moved.generations
        for entity in stored.entities {
            self.stored[entity.tag] = Name(
                entity: entity.name, generation: generations[entity.name] ?? 0)
        }
    }

    /// How identities of exactly an entity's objects name it.
    package func name(of entity: EntityLayout) -> Name {
        stored[entity.tag]
            ?? Name(entity: entity.name, generation: generations[entity.name] ?? 0)
    }
}
