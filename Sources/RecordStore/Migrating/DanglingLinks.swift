import PageStore

extension MigrationRun {
    /// Pass that sets a to-one link to nil if its target no longer exists, or if the schema does
    /// not allow the entity at either end. Throws `schemaMismatch` at the first one that the
    /// permission does not cover.
    ///
    /// - Parameters:
    ///   - permission: nil if every link may go.
    ///   - isNeeded: whether there may be any, which the pass must not change.
    func clearDanglingLinks(
        _ relationship: RelationshipLayout, of schema: Schema,
        within permission: LinkPermission? = nil,
        if isNeeded: () throws(StoreError) -> Bool = { () throws(StoreError) in true }
    ) throws(StoreError) {
        guard let field = relationship.field else { return }
        let source = schema.knownEntity(tag: relationship.sourceTag)
        let destination = schema.knownEntity(tag: relationship.destinationTag)
        let kinds = relationship.kinds(in: schema)
        try RecordRewrite(self, source.hierarchy).update(if: isNeeded) {
            number, entity, row throws(StoreError) in
            progress.count()
            guard source.tags.contains(entity.tag), let target = row.link(at: field.byteOffset)
            else { return nil }
            let tag = try transaction.withRow(target, in: destination.hierarchy) { $0.entityTag }
            let mayOwn = kinds.owners.contains(entity.tag)
            if mayOwn, let tag, kinds.targets.contains(tag) { return nil }
            if let permission, !permission.allows(relationship.name, of: entity) {
                guard mayOwn, let tag, permission.allows(target: tag) else {
                    throw LossCheck.refusal(
                        "object \(number.rawValue) is linked by \(source.name)."
                            + "\(relationship.name) to object \(target.rawValue), which the later "
                            + "model does not allow",
                        isLoss: tag != nil)
                }
            }
            let changed = try RowBuffer(copying: row, of: entity)
            changed.setLink(nil, at: field.byteOffset)
            return changed
        }
    }
}
