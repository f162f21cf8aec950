import SampleSchemas
import Testing

@testable import RecordStore

/// Saved schemas that are decoded once and recognised by their bytes.
@Suite struct DecodedSchemasTests {
    private static func schema(_ version: String) -> SchemaDescription {
        SchemaDescription(version: version, [])
    }

    @Test func `a saved schema was decoded at each opening`() throws {
        let schemas = DecodedSchemas()
        var decoded: [String] = []
        func open(_ text: UInt8, _ layout: UInt8) -> String {
            schemas.description([text], [layout]) {
                decoded.append("\(text).\(layout)")
                return Self.schema("\(text).\(layout)")
            }.modelVersion
        }
        for _ in 0..<3 {
            #expect(open(1, 1) == "1.1")
            // An equal text with another layout is another schema.
            #expect(open(1, 2) == "1.2")
            #expect(open(2, 1) == "2.1")
        }
        #expect(decoded == ["1.1", "1.2", "2.1"])
        // Schemas that were not used recently are evicted.
        for text in 3..<(3 + UInt8(DecodedSchemas.countMax) - 1) { _ = open(text, 0) }
        decoded = []
        #expect(open(2, 1) == "2.1")
        #expect(decoded.isEmpty)
        #expect(open(1, 1) == "1.1")
        #expect(decoded == ["1.1"])
    }

    @Test func `a schema that failed to decode is decoded again`() throws {
        struct Failure: Error {}
        let schemas = DecodedSchemas()
        for _ in 0..<2 {
            #expect(throws: Failure.self) {
                try schemas.description([1], []) { throw Failure() }
            }
        }
        #expect(schemas.description([1], []) { Self.schema("V1") } == Self.schema("V1"))
    }
}
