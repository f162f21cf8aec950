/// Reads the indexes and unique constraints of one entity, in all forms that Xcode has written.
struct IndexReader {
    private let element: ModelElement
    private let entityName: String
    /// The names that an index may have as columns.
    private let columns: Set<String>

    init(_ element: ModelElement, entityName: String, columns: Set<String>) {
        self.element = element
        self.entityName = entityName
        self.columns = columns
    }

    /// The columns of each index, whatever its order: an index is read both ways.
    func indexes() throws(XcodeModelError) -> [[String]] {
        var indexes: [[String]] = []
        for property in element.children("attribute") + element.children("relationship")
        where try property.flag("indexed") {
            indexes.append([try property.required("name")])
        }
        for list in element.children("compoundIndexes") {
            for index in list.children("compoundIndex") {
                indexes.append(index.children("index").map { $0["value"] ?? "" })
            }
        }
        for index in element.children("fetchIndex") {
            let parts = index.children("fetchIndexElement")
            guard parts.allSatisfy({ $0["type"] ?? "Binary" == "Binary" }) else { continue }
            indexes.append(parts.map { $0["property"] ?? "" })
        }
        var known: Set<[String]> = []
        return indexes.filter { names in
            (1...8).contains(names.count) && Set(names).isSubset(of: columns)
                && Set(names).count == names.count && known.insert(names).inserted
        }
    }

    /// The properties of each unique constraint.
    func constraints() throws(XcodeModelError) -> [[String]] {
        var constraints: [[String]] = []
        for list in element.children("uniquenessConstraints") {
            for constraint in list.children("uniquenessConstraint") {
                var names: [String] = []
                for part in constraint.children("constraint") {
                    let name = try part.required("value")
                    guard columns.contains(name) else {
                        throw part.failure(
                            .invalidModel,
                            "a unique constraint of \(entityName) names “\(name)”, which is no "
                                + "stored property of it")
                    }
                    names.append(name)
                }
                if !names.isEmpty, !constraints.contains(names) { constraints.append(names) }
            }
        }
        return constraints
    }
}
