import PageStore

extension MigrationRun {
    /// Pass that sets a to-one link to nil if its target no longer exists, or if the schema does
    /// not allow the entity at either end. With `refusingLoss`, throws `schemaMismatch` at the
    /// first one.
    ///
    /// - Parameter isNeeded: whether there may be any, which the pass must not change.
    func clearDanglingLinks(
        _ relationship: RelationshipLayout, of schema: Schema, refusingLoss: Bool = false,
        if isNeeded: () throws(StoreError) -> Bool = { () throws(StoreError) in true }
    ) throws(StoreError) {
        guard let field = relationship.field else { return }
        let source = schema.knownEntity(tag: relationship.sourceTag)
        let destination = schema.knownEntity(tag: relationship.destinationTag)
        let kinds = relationship.kinds(in: schema)
        try RecordRewrite(self, source.hierarchy).update(if: isNeeded) {
            number, entity, row throws(StoreError) in
            guard source.tags.contains(entity.tag), let target = row.link(at: field.byteOffset)
            else { return nil }
            let isThere = try transaction.withRow(target, in: destination.hierarchy) {
                kinds.targets.contains($0.entityTag)
            }
            guard isThere != true || !kinds.owners.contains(entity.tag) else { return nil }
            guard !refusingLoss else {
                throw LossCheck.refusal(
                    "object \(number.rawValue) is linked by \(entity.name).\(relationship.name) "
                        + "to object \(target.rawValue), which the later model does not allow")
            }
            let changed = RowBuffer(copying: row)
            changed.setLink(nil, at: field.byteOffset)
            return changed
        }
    }
}
