import PageStore

extension RecordTransaction {
    /// Makes to-one links nil that lead to no object any more, or to one of another kind than the
    /// relationship has; throws `schemaMismatch` at the first where none may be lost.
    func clearDanglingLinks(
        _ relationship: RelationshipLayout, refusingLoss: Bool = false
    ) throws(StoreError) {
        guard let field = relationship.field else { return }
        let source = schema.knownEntity(tag: relationship.sourceTag)
        let destination = schema.knownEntity(tag: relationship.destinationTag)
        try RecordRewrite(self, source.hierarchy).update {
            number, entity, row throws(StoreError) in
            guard source.tags.contains(entity.tag), let target = row.link(at: field.byteOffset)
            else { return nil }
            let isThere = try withRow(target, in: destination.hierarchy) {
                destination.tags.contains($0.entityTag)
            }
            guard isThere != true else { return nil }
            guard !refusingLoss else {
                throw LossCheck.refusal(
                    "object \(number.rawValue) has a \(entity.name).\(relationship.name) that "
                        + "is no \(destination.name) any more")
            }
            let changed = RowBuffer(copying: row)
            changed.setLink(nil, at: field.byteOffset)
            return changed
        }
    }
}
