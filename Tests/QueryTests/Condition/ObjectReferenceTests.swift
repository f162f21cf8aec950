import Foundation
import RecordStore
import Testing

@testable import Query

/// The URIs of objects.
@Suite struct ObjectReferenceTests {
    private static let start = "trellis://9E6F1B1C-0000-4000-8000-0123456789AB"

    @Test(arguments: ["Person", "My_Firm", "Ærø", "a/b?", "100%", "p5", ""], [0, 1, UInt32.max])
    func `a URI is read as it was written`(name: String, generation: UInt32) throws {
        let storeID = try #require(UUID(uuidString: "9E6F1B1C-0000-4000-8000-0123456789AB"))
        let reference = ObjectReference(
            storeID: storeID, entityName: name, number: ObjectNumber(5), generation: generation)
        #expect(ObjectReference(uri: reference.uri) == (name.isEmpty ? nil : reference))
        #expect(reference.uri.hasSuffix(generation == 0 ? "/p5" : "/p5.\(generation)"))
    }

    @Test(arguments: [
        "", "/", "/Person", "/Person/", "/Person/5", "/Person/p", "/Person/p5.", "/Person/p5.x",
        "/Person/p5.4294967296", "/Person/p5.1.1", "/Person/p-1", "/Person/p18446744073709551616",
        "/Person/p5/6", "/%FF/p5",
    ])
    func `what is no URI of an object is refused`(path: String) {
        #expect(ObjectReference(uri: Self.start + path) == nil)
        #expect(ObjectReference(uri: "x" + Self.start + "/Person/p5") == nil)
        #expect(ObjectReference(uri: "trellis://9E6F1B1C/Person/p5") == nil)
    }

    @Test func `an escaped name in a condition is the entity's`() throws {
        let format = "a == CAST('\(Self.start)/My%5FFirm/p5.2', 'NSManagedObjectID')"
        let condition = try ConditionParser.parse(format)
        #expect("\(condition)".contains("My_Firm"))
        #expect(ConditionText.text(condition).contains("/My%5FFirm/p5.2"))
    }
}
