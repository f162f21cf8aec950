import PageStore
import RecordStore

extension RecordDatabase {
    /// Stores as many objects of each entity, numbered from 1: all attributes, which must be whole
    /// numbers, are the object's number, and its to-one `owner` leads to the object of its number.
    package func storeNumbered(_ entityNames: [String], count: Int) throws {
        let transaction = try beginWrite()
        for name in entityNames {
            guard let entity = schema.entity(named: name) else {
                throw StoreError(.invalidArgument, "the schema has no entity \(name)")
            }
            let owner = entity.field(named: "owner")
            var batch = RecordBatch()
            for number in 1...UInt64(count) {
                var row = entity.emptyRow()
                defer { row.deallocate() }
                for field in entity.fields where field.type != nil {
                    row.setValue(.int(Int64(number)), field)
                }
                if let owner { row.setLink(ObjectNumber(number), at: owner.byteOffset) }
                batch.insert(
                    entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
            }
            try transaction.apply(batch)
        }
        try transaction.commit()
    }
}
