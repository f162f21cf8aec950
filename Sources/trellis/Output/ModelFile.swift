import Foundation
import PageStore
import RecordStore

/// Reads a model from a store or from exported JSON.
enum ModelFile {
    /// The schema of a store.
    static func schema(ofStore path: String) throws(StoreError) -> Schema {
        let database = try RecordDatabase.openReadOnly(path: path)
        defer { try? database.close() }
        return database.schema
    }

    /// The schema of a store, which has no defaults, or of exported JSON.
    static func schema(at path: String) throws(StoreError) -> SchemaDescription {
        do throws(StoreError) {
            return try schema(ofStore: path).description
        } catch {
            guard error.code == .notAStore else { throw error }
        }
        do throws(StoreError) {
            return try SchemaExport.schema(from: bytes(at: path))
        } catch {
            throw error.at(path: path)
        }
    }

    /// Reads one byte more than allowed at most, so that an endless file is refused.
    private static func bytes(at path: String) throws(StoreError) -> Data {
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? file.close() }
            return try file.read(upToCount: SchemaExport.sizeInBytesMax + 1) ?? Data()
        } catch {
            throw StoreError(.io, "the file cannot be read: \(error.localizedDescription)")
        }
    }
}
