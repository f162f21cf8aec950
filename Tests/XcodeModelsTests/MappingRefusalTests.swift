import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import XcodeModels

/// Mapping models that need code of the program, are none, or would harm their reader.
@Suite struct MappingRefusalTests {
    @Test func `the smallest mapping model is read`() throws {
        #expect(try MappingFiles.error(MappingFiles.text()) == nil)
    }

    // MARK: Code of the program

    @Test(
        arguments: [
            ("migrationpolicyclassname", "Shop.ItemPolicy"),
            ("sourcefilterpredicatestring", "age > 3"),
            ("sourceexpressiondata", "YnBsaXN0MDA="), ("mappingtypename", "Custom"),
        ])
    func `a mapping that needs code is refused by name`(name: String, value: String) throws {
        let error = try MappingFiles.error(
            MappingFiles.text(entity: "<attribute name=\"\(name)\">\(value)</attribute>"))
        #expect(error?.code == .unsupported)
        #expect(error?.line == 5)
        #expect(error?.message.contains("A") == true)
        if name != "sourceexpressiondata" {
            #expect(error?.message.contains(value) == true)
        }
    }

    @Test func `a policy class in a verbatim section is seen`() throws {
        let error = try MappingFiles.error(
            MappingFiles.text(
                entity: "<attribute name=\"migrationpolicyclassname\"><![CDATA[P]]></attribute>"))
        #expect(error?.code == .unsupported)
    }

    @Test func `a function is refused by its selector`() throws {
        let archive = ArchiveWriter.archive([
            .text("$null"),
            .fields([
                ("$class", .reference(2)), ("NSSelectorName", .reference(3)),
                ("NSOperand", .reference(1)),
            ]),
            ArchiveWriter.kind("NSFunctionExpression"), .text("uppercase:"),
        ])
        let error = try MappingFiles.error(MappingFiles.text(expression: archive))
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("uppercase:") == true)
        #expect(error?.message.contains("A.x") == true)
    }

    @Test(arguments: ["NSTernaryExpression", "NSBlockExpression", "NSAggregateExpression", "Evil"])
    func `another expression is refused by its class`(name: String) throws {
        let archive = ArchiveWriter.archive([
            .text("$null"), .fields([("$class", .reference(2))]), ArchiveWriter.kind(name),
        ])
        let error = try MappingFiles.error(MappingFiles.text(expression: archive))
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains(name) == true)
    }

    @Test(arguments: [("manager", "x"), ("source", "owner.name"), ("source", "items.@count")])
    func `a path to other objects is refused`(variable: String, path: String) throws {
        let error = try MappingFiles.error(
            MappingFiles.text(expression: Self.path(variable, path)))
        #expect(error?.code == .unsupported)
        #expect(
            try MappingFiles.error(MappingFiles.text(expression: Self.path("source", "y"))) == nil)
    }

    private static func path(_ variable: String, _ path: String) -> [UInt8] {
        ArchiveWriter.archive([
            .text("$null"),
            .fields([
                ("$class", .reference(2)), ("NSOperand", .reference(3)),
                ("NSArguments", .reference(6)),
            ]),
            ArchiveWriter.kind("NSKeyPathExpression"),
            .fields([("$class", .reference(4)), ("NSVariable", .reference(5))]),
            ArchiveWriter.kind("NSVariableExpression"), .text(variable),
            .fields([("NS.objects", .array([.reference(7)]))]),
            .fields([("$class", .reference(8)), ("NSKeyPath", .reference(9))]),
            ArchiveWriter.kind("NSKeyPathSpecifierExpression"), .text(path),
        ])
    }

    @Test func `compiled mapping models are refused`() throws {
        let folder = try ModelFiles.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let compiled = folder.appending(path: "Shop.cdm")
        try Data("bplist00".utf8).write(to: compiled)
        let error = #expect(throws: XcodeModelError.self) {
            try XcodeSchemaMappingProvider(from: "A", to: "B", mappingModelURL: compiled)
        }
        #expect(error?.code == .compiled)
        let bundle = try #require(Bundle(path: folder.path))
        let other = #expect(throws: XcodeModelError.self) {
            try XcodeSchemaMappingProvider(from: "A", to: "B", mappingModelBundle: bundle)
        }
        #expect(other?.code == .compiled)
    }

    // MARK: Unknown parts

    @Test(
        arguments: [
            "<object type='XDDEVFETCHMAPPING' id='z9'/>", "<object id='z9'/>",
            "<object type='XDDEVATTRIBUTEMAPPING' id='z9'><attribute name='later'/></object>",
            "<object type='XDDEVATTRIBUTEMAPPING' id='z9'><attribute name='name'>a</attribute>"
                + "<attribute name='name'>b</attribute></object>",
            "<object type='XDDEVATTRIBUTEMAPPING' id='z9'><relationship name='next'/></object>",
            "<object type='XDDEVATTRIBUTEMAPPING' id='z9'><note/></object>",
            "<object type='XDDEVATTRIBUTEMAPPING' id='z9'><attribute name='name'><b/>"
                + "</attribute></object>",
            "<script/>",
        ])
    func `an unknown part is refused with its line`(part: String) throws {
        let error = try MappingFiles.error(MappingFiles.text(more: part))
        #expect(error?.code == .unsupported)
        #expect(error?.line == 7)
    }

    @Test(
        arguments: [
            "<object type='XDDEVATTRIBUTEMAPPING'/>",
            "<object type='XDDEVATTRIBUTEMAPPING' id='z2'/>",
            "<object type='XDDEVMAPPINGMODEL' id='z9'/>",
        ])
    func `a contradictory mapping model is refused`(part: String) throws {
        #expect(try MappingFiles.error(MappingFiles.text(more: part))?.code == .invalidModel)
    }

    @Test(
        arguments: [
            ("idrefs=\"z2\"", "idrefs=\"z3\""), ("idrefs=\"z2\"", "idrefs=\"z2 z2\""),
            // An entity among its own attributes, and a model among its own entities.
            ("idrefs=\"z2\"", "idrefs=\"z1\""), ("idrefs=\"z1\"", "idrefs=\"z0\""),
            ("idrefs=\"z1\"", "idrefs=\"z1 z1\""),
            // No name of the attribute, and none of both entities.
            (">x<", "><"), (">A<", "><"),
        ])
    func `missing names, and references in a circle or to nothing, are refused`(
        old: String, new: String
    ) throws {
        let text = MappingFiles.text().replacing(old, with: new)
        #expect(try MappingFiles.error(text)?.code == .invalidModel)
    }

    @Test func `an XML document that is not a mapping model is refused`() throws {
        for text in ["<model/>", "<database/>", "<database><databaseInfo/></database>"] {
            #expect(try MappingFiles.error(text)?.code == .invalidModel, "\(text)")
        }
    }

    @Test func `two mappings of one entity are refused`() throws {
        let text = try MappingFiles.shopText.replacing(">Clerk<", with: ">Item<")
        let error = try MappingFiles.error(text)
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("Item") == true)
    }

    // MARK: Markup

    @Test(
        arguments: [
            "<!DOCTYPE database SYSTEM \"file:///etc/passwd\">",
            "<!DOCTYPE database [<!ENTITY a \"b\">]>",
            "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\" "
                + "[<!ENTITY a \"b\">]>",
        ])
    func `a document type other than Xcode's is refused`(type: String) throws {
        let text = MappingFiles.text().replacing(MappingReader.documentType, with: type)
        #expect(try MappingFiles.error(text)?.code == .invalidMarkup)
        let twice = MappingReader.documentType + MappingReader.documentType
        let other = MappingFiles.text().replacing(MappingReader.documentType, with: twice)
        #expect(try MappingFiles.error(other)?.code == .invalidMarkup)
        #expect(try MappingFiles.error("<database>&b;</database>")?.code == .invalidMarkup)
    }

    @Test func `the document type of mapping models is none of models`() throws {
        let text = MappingReader.documentType + "<model/>"
        #expect(try ModelFiles.error(text)?.code == .invalidMarkup)
    }

    @Test func `mapping models that are too deep or too many parts are refused`() throws {
        let depth = String(repeating: "<a>", count: 1000) + String(repeating: "</a>", count: 1000)
        #expect(try MappingFiles.error(MappingFiles.text(more: depth))?.code == .tooLarge)
        let many = String(repeating: "<a/>", count: MarkupReader.elementCountMax)
        #expect(try MappingFiles.error(MappingFiles.text(more: many))?.code == .tooLarge)
    }

    // MARK: Archives

    @Test func `an archive that names itself is refused and not followed`() throws {
        // The constant is the expression, its class is the constant.
        let circle = ArchiveWriter.archive([
            .text("$null"),
            .fields([("$class", .reference(1)), ("NSConstantValue", .reference(1))]),
        ])
        #expect(
            try MappingFiles.error(MappingFiles.text(expression: circle))?.code == .invalidModel)
        let boxed = ArchiveWriter.archive([
            .text("$null"),
            .fields([("$class", .reference(2)), ("NSConstantValue", .reference(1))]),
            ArchiveWriter.kind("NSConstantValueExpression"),
        ])
        #expect(try MappingFiles.error(MappingFiles.text(expression: boxed))?.code == .unsupported)
        let path = ArchiveWriter.archive([
            .text("$null"),
            .fields([
                ("$class", .reference(2)), ("NSOperand", .reference(1)),
                ("NSArguments", .reference(1)),
            ]),
            ArchiveWriter.kind("NSKeyPathExpression"),
        ])
        #expect(try MappingFiles.error(MappingFiles.text(expression: path))?.code == .unsupported)
    }

    @Test(
        arguments: [
            [], Array("bplist00".utf8), Array("<plist/>".utf8),
            ArchiveWriter.bytes(.text("x")), ArchiveWriter.bytes(.array([])),
            ArchiveWriter.bytes(.raw([0xFF])), ArchiveWriter.bytes(.raw([0x14])),
            ArchiveWriter.archive([], root: 0), ArchiveWriter.archive([.text("$null")], root: 7),
            ArchiveWriter.archive([.text("$null"), .raw([0x5F])]),
            ArchiveWriter.archive([
                .text("$null"), .raw([0xDF, 0x13] + Array(repeating: 0xFF, count: 8)),
            ]),
            ArchiveWriter.archive([.text("$null"), .int(.max)]),
        ] as [[UInt8]])
    func `bytes that are no archive of an expression are refused`(bytes: [UInt8]) throws {
        let text =
            bytes.isEmpty
            ? MappingFiles.text(
                attribute: "<attribute name=\"valueexpressiondata\">=</attribute>")
            : MappingFiles.text(expression: bytes)
        let error = try MappingFiles.error(text)
        #expect(error?.code == .invalidModel)
        #expect(error?.line == 4)
    }

    @Test func `an archive that is too large is refused`() throws {
        let long = String(repeating: "a", count: BinaryPropertyList.sizeInBytesMax)
        let many = Array(
            repeating: ArchiveWriter.Node.int(1), count: BinaryPropertyList.objectCountMax)
        for node in [ArchiveWriter.Node.raw(Array(long.utf8)), .array(many)] {
            let text = MappingFiles.text(expression: ArchiveWriter.bytes(node))
            #expect(try MappingFiles.error(text)?.code == .invalidModel)
        }
    }

    /// A few kilobytes can name thousands of fields that share long texts.
    @Test func `an expression with too many fields is refused`() throws {
        let fields = (0..<65).map { ("field\($0)", ArchiveWriter.Node.int(1)) }
        let archive = ArchiveWriter.archive([
            .text("$null"), .fields([("$class", .reference(2))] + fields),
            ArchiveWriter.kind("NSKeyPathExpression"),
        ])
        let error = #expect(throws: ExpressionArchive.Failure.self) {
            _ = try ExpressionArchive.value(archive)
        }
        #expect("\(String(describing: error))".contains("too many fields"))
    }

    /// Any bytes give a value or an error.
    @Test func `a damaged mapping model is read or refused, and nothing else happens`() throws {
        var random = SeededRandom(for: "MappingRefusalTests")
        let url = MappingFiles.shop.appending(path: "xcmapping.xml")
        let whole = Array(try MappingFiles.shopText.utf8)
        let archive = Self.path("source", "name")
        #expect(try ExpressionArchive.value(archive) == .source("name"))
        for _ in FuzzRounds(1000) {
            var bytes = whole
            for _ in 0...random.below(3) {
                bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            do throws(XcodeModelError) {
                let root = try MarkupReader.parse(
                    bytes, of: url, documentType: MappingReader.documentType)
                _ = try MappingReader.model(root, of: url)
            } catch {
                #expect(error.code != .notFound)
            }
            var part = archive
            for _ in 0...random.below(3) {
                part[random.below(part.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            do throws(ExpressionArchive.Failure) {
                _ = try ExpressionArchive.value(part)
            } catch {
                #expect(error != .invalid(""))
            }
        }
    }

    /// A bug: a migration that was interrupted was gone on with by an edited file.
    @Test func `a mapping of other values has another content`() throws {
        let contents = try ["y", "z", "y"].map { name in
            let text = MappingFiles.text(expression: Self.path("source", name))
            return try MappingFiles.withMapping(text) { url in
                try XcodeSchemaMappingProvider(from: "A", to: "B", mappingModelURL: url)
                    .customProvider.content
            }
        }
        #expect(contents[0] != contents[1])
        #expect(contents[0] == contents[2])
        #expect(contents[0].contains("y"))
    }
}
