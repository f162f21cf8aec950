import ObjectGraph

/// What a store holds, in the words of version 1: a line for each object under its URI. Two stores
/// of different versions hold the same if this is equal.
struct Content: Equatable {
    private var lines: [String: String] = [:]

    var count: Int { lines.count }

    /// - Parameter values: an object's values; nil stands for itself.
    private mutating func add(_ object: CoreStoreObject, _ values: [Any?]) {
        let uri = object.objectID().uriRepresentation().absoluteString
        lines[uri] = values.map { $0.map { "\($0)" } ?? "nil" }.joined(separator: " | ")
    }

    /// How many objects differ, and one of them in both contents.
    func difference(from other: Content) -> String? {
        let uris = Set(lines.keys).union(other.lines.keys)
            .filter { lines[$0] != other.lines[$0] }.sorted()
        guard let first = uris.first else { return nil }
        return "\(uris.count) objects differ, such as \(first): "
            + "“\(lines[first] ?? "nothing")”, “\(other.lines[first] ?? "nothing")”"
    }

    /// Opens a file for reading with the classes of version 1.
    @MainActor static func ofVersion1(in file: URL) throws -> Content {
        var options = EngineOptions()
        options.isReadOnly = true
        let stack = DataStack(V1.schema())
        try stack.addStorageAndWait(LocalStore(fileURL: file, engineOptions: options))
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        var content = Content()
        for object in try stack.fetchAll(From<V1.Country>()) {
            content.add(
                object,
                [
                    object.alpha2, object.alpha3, object.numeric, object.name,
                    object.officialName, object.commonName, object.flag,
                    object.subdivisions.map(\.code).sorted(),
                ])
        }
        for object in try stack.fetchAll(From<V1.Subdivision>()) {
            content.add(
                object,
                [
                    object.code, object.name, object.type, object.country?.alpha2,
                    object.parent?.code, object.children.map(\.code).sorted(),
                ])
        }
        for object in try stack.fetchAll(From<V1.Language>()) {
            content.add(
                object,
                [object.alpha3, object.alpha2, object.name, object.scope, object.type])
        }
        for object in try stack.fetchAll(From<V1.Currency>()) {
            content.add(object, [object.alpha3, object.numeric, object.name])
        }
        for object in try stack.fetchAll(From<V1.Script>()) {
            content.add(object, [object.alpha4, object.numeric, object.name])
        }
        return content
    }

    @MainActor static func ofVersion2(in stack: DataStack) throws -> Content {
        var content = Content()
        for object in try stack.fetchAll(From<Country>()) {
            content.add(
                object,
                [
                    object.alpha2, object.alpha3, object.numeric, object.name,
                    object.officialName, object.commonName, object.flag,
                    object.subdivisions.map(\.code).sorted(),
                ])
        }
        for object in try stack.fetchAll(From<Subdivision>()) {
            content.add(
                object,
                [
                    object.code, object.name, object.category, object.country?.alpha2,
                    object.parent?.code, object.children.map(\.code).sorted(),
                ])
        }
        for object in try stack.fetchAll(From<Language>()) {
            let name = object.baseName + (object.qualifier.map { " (\($0))" } ?? "")
            content.add(
                object, [object.alpha3, object.alpha2, name, object.scope, object.type])
        }
        for object in try stack.fetchAll(From<Currency>()) {
            content.add(object, [object.alpha3, object.numeric, object.name])
        }
        for object in try stack.fetchAll(From<Script>()) {
            content.add(object, [object.alpha4, object.numeric, object.name])
        }
        return content
    }
}
