import Foundation
import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// Schemas as programs export them.
@Suite struct SchemaExportTests {
    private static func schema(
        _ type: AttributeType, _ value: Value = .null
    ) -> SchemaDescription {
        SchemaDescription([
            EntityDescription(
                name: "Pet", className: "Dog", attributes: [.required("odd", type, default: value)])
        ])
    }

    private static func read(_ text: String) throws(StoreError) -> SchemaDescription {
        try SchemaExport.schema(from: Data(text.utf8))
    }

    /// The schema with a default in JSON.
    private static func text(_ type: AttributeType, _ value: String) -> String {
        let text = SchemaExport.text(schema(type))
        return text.replacing(
            "\"isCoded\"", with: "\"default\": \(value), \"isCoded\"", maxReplacements: 1)
    }

    private static let defaults: [AttributeType: [Value]] = [
        .bool: [.bool(true), .bool(false)],
        .int8: [.int(-128), .int(0), .int(127)],
        .int16: [.int(-32_768), .int(32_767)],
        .int32: [.int(Int64(Int32.min)), .int(Int64(Int32.max))],
        .int64: [.int(.min), .int(.max), .int(9_007_199_254_740_993)],
        .uint8: [.uint(255)],
        .uint16: [.uint(65_535)],
        .uint32: [.uint(UInt64(UInt32.max))],
        .uint64: [.uint(.max), .uint(9_223_372_036_854_775_809)],
        .float: [
            .float(0.1), .float(-0.0), .float(.greatestFiniteMagnitude),
            .float(.leastNonzeroMagnitude), .float(.infinity), .float(.nan),
        ],
        .double: [
            .double(0.1), .double(-0.0), .double(.greatestFiniteMagnitude),
            .double(.leastNonzeroMagnitude), .double(-.infinity), .double(.nan), .double(1e22),
        ],
        .decimal: [
            .decimal(0), .decimal(Decimal(string: "0.1") ?? .nan), .decimal(.nan),
            .decimal(.greatestFiniteMagnitude), .decimal(-.greatestFiniteMagnitude),
            .decimal(.leastNonzeroMagnitude),
            .decimal(Decimal(string: "-12345678901234567890.123456789012345678") ?? .nan),
        ],
        .string: [
            .string(""), .string("a\"b\\c/d\t\n\r\u{0}\u{1}\u{1F}\u{7F}é🙂\u{2028}{[:,"),
            .string("e\u{301}"), .string(String(repeating: "x", count: 32_768)),
        ],
        .data: [.data([]), .data(Array(0...255))],
        .date: [.date(0), .date(-0.25), .date(1e300), .date(.nan), .date(-.infinity)],
        .uuid: [.uuid(UUID())],
        .url: [.url("https://example.com/a?b=c#d"), .url("%C3%A9")],
    ]

    @Test(arguments: AttributeType.allCases)
    func `an exported schema has the defaults that the program has`(type: AttributeType) throws {
        let values = try #require(Self.defaults[type])
        for value in values {
            let schema = Self.schema(type, value)
            let read = try Self.read(SchemaExport.text(schema))
            #expect(read == schema)
            // Equal values may be of two kinds, or have two signs.
            let found = read.entities[0].attributes[0].defaultValue
            #expect("\(found)".utf8.elementsEqual("\(value)".utf8), "\(found) for \(value)")
        }
        #expect(try Self.read(Self.text(type, "null")) == Self.schema(type))
        #expect(try Self.read(SchemaExport.text(Self.schema(type))) == Self.schema(type))
    }

    @Test func `a number of another kind than its attribute is exported as the attribute's`() throws
    {
        let numbers: [(AttributeType, Value, Value)] = [
            (.int64, .double(5), .int(5)), (.int8, .bool(true), .int(1)),
            (.uint16, .int(7), .uint(7)), (.bool, .int(1), .bool(true)),
            (.float, .int(3), .float(3)), (.double, .uint(3), .double(3)),
            (.decimal, .double(0.1), .decimal(Decimal(string: "0.1") ?? .nan)),
            (.date, .int(3), .date(3)), (.string, .object(ObjectNumber(1)), .null),
        ]
        for (type, value, expected) in numbers {
            let read = try Self.read(SchemaExport.text(Self.schema(type, value)))
            #expect("\(read.entities[0].attributes[0].defaultValue)" == "\(expected)")
        }
    }

    @Test func `an exported schema is JSON with a line for each member`() throws {
        var schema = Self.schema(.decimal, .decimal(Decimal(string: "1.5") ?? .nan))
        schema.entities[0].indexes = [["odd"]]
        let text = """
            {
              "entities": [
                {
                  "attributes": [
                    {
                      "default": "1.5",
                      "isCoded": false,
                      "isOptional": false,
                      "name": "odd",
                      "type": "decimal"
                    }
                  ],
                  "className": "Dog",
                  "indexes": [
                    [
                      "odd"
                    ]
                  ],
                  "isAbstract": false,
                  "name": "Pet",
                  "relationships": [],
                  "uniqueConstraints": []
                }
              ],
              "modelVersion": "V1"
            }
            """
        #expect(SchemaExport.text(schema) == text)
    }

    @Test func `the saved schema of a file contains no defaults`() throws {
        let schema = Self.schema(.string, .string("x"))
        #expect(!String(decoding: SchemaText(schema).bytes, as: UTF8.self).contains("default"))
        let text = SchemaExport.text(schema)
        let read = try JSONDecoder().decode(SchemaDescription.self, from: Data(text.utf8))
        #expect(read == Self.schema(.string))
    }

    private static let wrongDefaults: [(AttributeType, [String])] = [
        (AttributeType.bool, ["1", "\"true\"", "[]"]),
        (.int8, ["128", "-129", "1.5", "\"1\"", "true", "1e400", "{}"]),
        (.int64, ["9223372036854775808", "1e19", "null1"]),
        (.uint8, ["-1", "256"]), (.uint64, ["-1", "18446744073709551616"]),
        (.float, ["1e39", "\"1\"", "\"Inf\"", "true"]), (.double, ["1e309", "\"\"", "[0]"]),
        (.date, ["\"2001-01-01T00:00:00Z\"", "1e999"]),
        (
            .decimal,
            [
                "1.5", "\"\"", "\"-\"", "\".\"", "\"1.\"", "\".5\"", "\"+1\"", "\"1e3\"", "\"1 \"",
                "\"1.2.3\"", "\"--1\"", "\"١\"", "\"1\(String(repeating: "0", count: 300))\"",
                "\"0.\(String(repeating: "0", count: 200))1\"",
                "\"\(String(repeating: "1", count: 45))\"",
            ]
        ),
        (.string, ["1", "[\"a\"]", "\"\(String(repeating: "x", count: 32_769))\"", "\"\\ud800\""]),
        (.data, ["\"a\"", "\"*\"", "5", "\"\(String(repeating: "AAAA", count: 10_923))\""]),
        (.uuid, ["\"\"", "\"12345678-1234-1234-1234-12345678901\"", "0"]),
        (.url, ["\"\"", "7", "\"http://[\""]),
    ]

    @Test(arguments: AttributeType.allCases)
    func `a default that is no value of its type is refused with its place`(
        type: AttributeType
    ) throws {
        for value in Self.wrongDefaults.first(where: { $0.0 == type })?.1 ?? ["{}"] {
            let text = Self.text(type, value)
            let error = #expect(throws: StoreError.self, "\(value.prefix(100))") {
                try Self.read(text)
            }
            #expect(error?.code == .notAStore)
            let message = error?.message ?? ""
            // Text that is not JSON has no positions.
            let isJSON = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil
            let hasPlace = message.contains("entities[0].attributes[0].default: ")
            #expect(hasPlace || !isJSON, "\(value.prefix(100)): \(message)")
            #expect(message.count < 500)
        }
    }

    @Test func `text that is no schema is refused`() {
        let deep = String(repeating: "[", count: 200_000)
        let texts = [
            "", " ", "{", "[1]", "null", "\u{0}", "{\"modelVersion\": \"V1\", \"entities\": 3}",
            "{\"modelVersion\": \"V1\"}", deep, "{\"entities\": \(deep)",
            String(repeating: "{\"entities\":", count: 100_000),
            SchemaExport.text(Self.schema(.string)).replacing("\"string\"", with: "\"text\""),
            SchemaExport.text(Self.schema(.string)).replacing("\"odd\"", with: "7"),
            SchemaExport.text(Self.schema(.string)) + "}",
        ]
        for text in texts {
            let error = #expect(throws: StoreError.self, "\(text.prefix(100))") {
                try Self.read(text)
            }
            #expect(error?.code == .notAStore)
        }
        let error = #expect(throws: StoreError.self) {
            try SchemaExport.schema(from: Data(count: SchemaExport.sizeInBytesMax + 1))
        }
        #expect(error?.code == .tooLarge)
    }

    @Test func `a schema that contradicts itself is refused`() {
        let changes: [(inout SchemaDescription) -> Void] = [
            { $0.entities.append($0.entities[0]) },
            { $0.entities[0].superentityName = "Pet" },
            { $0.entities[0].superentityName = "Nothing" },
            { $0.entities[0].attributes.append($0.entities[0].attributes[0]) },
            { $0.entities[0].attributes[0].name = "" },
            { $0.entities[0].indexes = [["no"]] },
            { $0.entities[0].uniqueConstraints = [[]] },
            { $0.entities[0].relationships[0].destinationEntityName = "Nothing" },
            { $0.entities[0].relationships[0].inverseName = "nothing" },
            { $0.entities[0].relationships[0].minCount = -1 },
            { $0.entities[0].relationships[0].maxCount = .min },
            {
                $0.entities[0].relationships[0].minCount = 3
                $0.entities[0].relationships[0].maxCount = 2
            },
        ]
        for (number, change) in changes.enumerated() {
            var schema = Self.schema(.string)
            schema.entities[0].relationships = [.toManyUnordered("friends", to: "Pet")]
            change(&schema)
            let error = #expect(throws: StoreError.self, "change \(number)") {
                try Self.read(SchemaExport.text(schema))
            }
            #expect(error?.code == .invalidModel, "change \(number)")
        }
    }

    @Test func `changed bytes of an export are a schema or an error`() throws {
        var random = SeededRandom(for: "SchemaExportTests")
        var schema = Self.schema(.decimal, .decimal(Decimal(string: "-10.25") ?? .nan))
        for (type, values) in Self.defaults {
            schema.entities[0].attributes.append(
                .required(type.name, type, default: values.first ?? .null))
        }
        let whole = Array(SchemaExport.text(schema).utf8)
        let marks = Array("{}[]\",:.-+eE0123456789\\untrfals".utf8)
        var readCount = 0
        for _ in 0..<3_000 {
            var bytes = whole
            for _ in 0...random.below(3) {
                let index = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: index)
                case 2: bytes[index] = marks[random.below(marks.count)]
                default: bytes.insert(marks[random.below(marks.count)], at: index)
                }
            }
            do throws(StoreError) {
                _ = try SchemaExport.schema(from: Data(bytes))
                readCount += 1
            } catch {
                #expect(
                    error.code == .notAStore || error.code == .invalidModel,
                    "seed \(random.seed): \(error)")
            }
        }
        #expect(readCount > 0)
    }
}
