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

    /// The models that a store has had; nil for exported JSON, and where they are not known.
    static func history(at path: String) throws(StoreError) -> ModelHistory? {
        var options = Engine.Options()
        options.mode = .reading
        do throws(StoreError) {
            let engine = try Engine.open(path: path, options: options)
            defer { try? engine.close() }
            return try CatalogView(try engine.snapshot())?.history()
        } catch {
            guard error.code == .notAStore else { throw error }
            return nil
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
