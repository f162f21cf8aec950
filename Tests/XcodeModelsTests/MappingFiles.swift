import Foundation

@testable import XcodeModels

/// Mapping models that tests write. `Models/Shop.xcmappingmodel` has the elements of a file of
/// Xcode's, and expressions that Python's `plistlib` archived.
enum MappingFiles {
    static let shop = ModelFiles.folder.appending(path: "Shop.xcmappingmodel")

    static var shopText: String {
        get throws {
            try String(contentsOf: shop.appending(path: "xcmapping.xml"), encoding: .utf8)
        }
    }

    /// Passes an `.xcmappingmodel` with a text.
    static func withMapping<Result>(
        _ text: String, _ body: (URL) throws -> Result
    ) throws -> Result {
        let folder = try ModelFiles.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = folder.appending(path: "Mapping.xcmappingmodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: model.appending(path: "xcmapping.xml"))
        return try body(model)
    }

    /// The error of reading a text; nil for a valid mapping model.
    static func error(_ text: String) throws -> XcodeModelError? {
        try withMapping(text) { url in
            do throws(XcodeModelError) {
                _ = try XcodeSchemaMappingProvider(from: "A", to: "B", mappingModelURL: url)
                return nil
            } catch {
                return error
            }
        }
    }

    /// A mapping model of one attribute, `A.x`, with these attributes of its object, on line 4, and
    /// those of the entity's object, on line 5.
    static func text(attribute: String = "", entity: String = "", more: String = "") -> String {
        """
        <?xml version="1.0" standalone="yes"?>
        \(MappingReader.documentType)
        <database>
        <object type="XDDEVATTRIBUTEMAPPING" id="z2"><attribute name="name" type="string">x\
        </attribute>\(attribute)</object>
        <object type="XDDEVENTITYMAPPING" id="z1"><attribute name="sourcename" type="string">A\
        </attribute><attribute name="destinationname" type="string">A</attribute>\(entity)\
        <relationship name="attributemappings" idrefs="z2"/></object>
        <object type="XDDEVMAPPINGMODEL" id="z0">\
        <relationship name="entitymappings" idrefs="z1"/></object>
        \(more)
        </database>
        """
    }

    static func text(expression: [UInt8]) -> String {
        text(
            attribute: "<attribute name=\"valueexpressiondata\" type=\"binary\">"
                + Data(expression).base64EncodedString() + "</attribute>")
    }
}

/// Writes keyed archives, valid ones and others.
struct ArchiveWriter {
    indirect enum Node {
        case int(UInt64)
        case text(String)
        case reference(Int)
        case array([Node])
        case fields([(String, Node)])
        /// Bytes as they are, such as an object of an unknown kind.
        case raw([UInt8])
    }

    private var objects: [[UInt8]] = []

    /// A binary property list of a node.
    static func bytes(_ root: Node) -> [UInt8] {
        var writer = ArchiveWriter()
        let top = writer.add(root)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in writer.objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        bytes += offsets.flatMap { big($0, 2) }
        bytes += [0, 0, 0, 0, 0, 0, 2, 2]
        return bytes + big(offsets.count, 8) + big(top, 8) + big(table, 8)
    }

    /// An archive: its objects, of which the one at `root` is the outermost.
    static func archive(_ objects: [Node], root: Int = 1) -> [UInt8] {
        bytes(
            .fields([
                ("$archiver", .text("NSKeyedArchiver")), ("$objects", .array(objects)),
                ("$top", .fields([("root", .reference(root))])),
            ]))
    }

    static func kind(_ name: String) -> Node {
        .fields([("$classname", .text(name)), ("$classes", .array([.text(name)]))])
    }

    private static func big(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - $0))) }
    }

    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 0x0F, 0x11] + big(count, 2)
    }

    private mutating func add(_ node: Node) -> Int {
        var bytes: [UInt8]
        switch node {
        case .int(let number): bytes = [0x13] + Self.big(Int(bitPattern: UInt(number)), 8)
        case .text(let text): bytes = Self.head(0x5, text.utf8.count) + Array(text.utf8)
        case .reference(let index): bytes = [0x81] + Self.big(index, 2)
        case .array(let nodes):
            let indexes = nodes.map { add($0) }
            bytes = Self.head(0xA, indexes.count) + indexes.flatMap { Self.big($0, 2) }
        case .fields(let fields):
            let keys = fields.map { add(.text($0.0)) }
            let values = fields.map { add($0.1) }
            bytes = Self.head(0xD, fields.count) + (keys + values).flatMap { Self.big($0, 2) }
        case .raw(let raw): bytes = raw
        }
        objects.append(bytes)
        return objects.count - 1
    }
}
