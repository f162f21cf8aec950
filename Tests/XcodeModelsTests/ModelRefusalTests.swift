import ObjectGraph
import TestSupport
import Testing

@testable import XcodeModels

/// Files that are not models, or that would harm their reader.
@Suite struct ModelRefusalTests {
    // MARK: Markup

    @Test func `entities that expand to more entities are refused unexpanded`() throws {
        var text = "<?xml version=\"1.0\"?>\n<!DOCTYPE model [\n<!ENTITY a0 \"ha\">\n"
        for number in 1...9 {
            let parts = String(repeating: "&a\(number - 1);", count: 10)
            text += "<!ENTITY a\(number) \"\(parts)\">\n"
        }
        text += "]>\n<model><entity name=\"&a9;\"/></model>"
        let error = try ModelFiles.error(text)
        #expect(error?.code == .invalidMarkup)
        #expect(error?.line == 2)
    }

    @Test func `no external entity is read`() throws {
        let folder = try ModelFiles.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let secret = folder.appending(path: "secret")
        try Data("<entity name='B'/>".utf8).write(to: secret)
        for declaration in [
            "<!DOCTYPE model [<!ENTITY b SYSTEM \"\(secret.absoluteString)\">]>",
            "<!DOCTYPE model SYSTEM \"\(secret.absoluteString)\">",
            "<!doctype model [<!ENTITY b SYSTEM \"\(secret.absoluteString)\">]>", "",
        ] {
            let error = try ModelFiles.error("\(declaration)\n<model>&b;</model>")
            #expect(error?.code == .invalidMarkup, "\(declaration)")
            #expect(error?.line == (declaration.isEmpty ? 2 : 1), "\(declaration)")
        }
    }

    /// Another encoding would hide a document type from a search in UTF-8.
    @Test func `a text in another encoding is refused`() throws {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-7\"?><model/>"
        #expect(try ModelFiles.error(text)?.code == .invalidMarkup)
        let wide = Array("<model/>".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        for text in [wide, [0xFF, 0xFE] + wide] {
            #expect(try ModelFiles.error(text)?.code == .invalidMarkup)
        }
        #expect(try ModelFiles.error([0xC3, 0x28])?.code == .invalidMarkup)
    }

    @Test(
        arguments: [
            ("", 1), ("text", 1), ("<model>", 1), ("<model>\n<entity>\n</model>", 3),
            ("<model a=1/>", 1), ("<model a='1' a='2'/>", 1), ("<model>&x;</model>", 1),
            ("<model/>\n<model/>", 2), ("<model>\u{1}</model>", 1), ("<model", 1),
            ("<!-- <model/>", 1), ("<![CDATA[<model/>]]>", 1), ("bplist00", 1),
        ])
    func `XML that is not well-formed is refused with its line`(text: String, line: Int) throws {
        let error = try ModelFiles.error(text)
        #expect(error?.code == .invalidMarkup)
        #expect(error?.line == line)
    }

    @Test func `the content of an XML comment is ignored`() throws {
        let text = "<!-- <!DOCTYPE a> --><model><!-- <!ENTITY b 'c'> --></model>"
        #expect(try ModelFiles.error(text) == nil)
        #expect(try ModelFiles.error([0xEF, 0xBB, 0xBF] + Array(text.utf8)) == nil)
    }

    // MARK: Bounds

    @Test func `files that are too large, too deep or too many parts are refused`() throws {
        let long = String(repeating: " ", count: MarkupReader.fileSizeInBytesMax)
        #expect(try ModelFiles.error("<model>\(long)</model>")?.code == .tooLarge)
        let depth = MarkupReader.depthMax
        func nested(_ count: Int) -> String {
            "<model>" + String(repeating: "\n<a>", count: count)
                + String(repeating: "</a>", count: count) + "</model>"
        }
        #expect(try ModelFiles.error(nested(depth - 1)) == nil)
        let deep = try ModelFiles.error(nested(depth))
        #expect(deep?.code == .tooLarge)
        #expect(deep?.line == depth + 1)
        #expect(try ModelFiles.error(nested(100_000))?.code == .tooLarge)
        func many(_ count: Int) -> String {
            "<model>" + String(repeating: "<a/>", count: count) + "</model>"
        }
        #expect(try ModelFiles.error(many(MarkupReader.elementCountMax - 1)) == nil)
        #expect(try ModelFiles.error(many(MarkupReader.elementCountMax))?.code == .tooLarge)
        let attributes = (0..<10_000).map { "a\($0)=''" }.joined(separator: " ")
        #expect(try ModelFiles.error("<model \(attributes)/>")?.code == .tooLarge)
    }

    @Test func `superentities in a circle, or too many above one another, are refused`() throws {
        let circle = """
            <model>
            <entity name="A" parentEntity="B"/>
            <entity name="B" parentEntity="A"/>
            </model>
            """
        #expect(try ModelFiles.error(circle)?.code == .invalidModel)
        #expect(try ModelFiles.error(circle)?.line == 2)
        let chain = (0..<5000).map { "<entity name='A\($0)' parentEntity='A\($0 + 1)'/>" }
        let text = "<model>" + chain.joined() + "<entity name='A5000'/></model>"
        #expect(try ModelFiles.error(text)?.code == .invalidModel)
    }

    // MARK: Models

    @Test(
        arguments: [
            "<attribute name='x'/>",
            "<attribute attributeType='String'/>",
            "<attribute name='x' attributeType='String' optional='maybe'/>",
            "<attribute name='x' attributeType='Integer 16' defaultValueString='40000'/>",
            "<attribute name='x' attributeType='Integer 32' defaultValueString='1.5'/>",
            "<attribute name='x' attributeType='Integer 64' defaultValueString='1e30'/>",
            "<attribute name='x' attributeType='Double' defaultValueString='nan'/>",
            "<attribute name='x' attributeType='Double' defaultValueString='1e999'/>",
            "<attribute name='x' attributeType='Float' defaultValueString='1e200'/>",
            "<attribute name='x' attributeType='Decimal' defaultValueString='12 apples'/>",
            "<attribute name='x' attributeType='Boolean' defaultValueString='2'/>",
            "<attribute name='x' attributeType='UUID' defaultValueString='1234'/>",
            "<attribute name='x' attributeType='Date' defaultDateTimeInterval='today'/>",
            "<relationship name='x'/>",
            "<relationship name='x' destinationEntity='B'/>",
            "<relationship name='x' destinationEntity='A' deletionRule='Never'/>",
            "<relationship name='x' destinationEntity='A' toMany='YES' minCount='-1'/>",
            "<relationship name='x' destinationEntity='A' toMany='YES' maxCount='9999999999'/>",
            "<relationship name='x' destinationEntity='A' toMany='YES' minCount='3' maxCount='2'/>",
        ])
    func `an invalid element of a model is refused with its line`(element: String) throws {
        let error = try ModelFiles.error(ModelFiles.model(element))
        #expect(error?.code == .invalidModel)
        #expect(error?.line == 3)
    }

    @Test(
        arguments: [
            "<attribute name='x' attributeType='String'/>"
                + "<attribute name='x' attributeType='UUID'/>",
            "<attribute name='x.y' attributeType='String'/>",
            "<relationship name='x' destinationEntity='A' inverseName='y'/>",
            "</entity><entity name='A'>",
            "</entity><entity name='B' parentEntity='C'>",
            "</entity><configuration/><entity name='B'>",
            "</entity><configuration name='C'><memberEntity name='D'/></configuration>"
                + "<entity name='B'>",
            "</entity><configuration name='C'/><configuration name='C'/><entity name='B'>",
            "<uniquenessConstraints><uniquenessConstraint><constraint value='x'/>"
                + "</uniquenessConstraint></uniquenessConstraints>",
        ])
    func `a contradictory model is refused`(elements: String) throws {
        #expect(try ModelFiles.error(ModelFiles.model(elements))?.code == .invalidModel)
    }

    @Test(arguments: ["Composite", "Undefined", "Object ID"])
    func `attributes that no class can declare are refused by name`(type: String) throws {
        let error = try ModelFiles.error(
            ModelFiles.model("<attribute name='home' attributeType='\(type)'/>"))
        #expect(error?.code == .unsupported)
        #expect(error?.line == 3)
        #expect(error?.message.contains("A.home") == true)
        #expect(error?.message.contains(type) == true)
    }

    @Test func `an XML document that is not a model is refused`() throws {
        let error = try ModelFiles.error("<database><object/></database>")
        #expect(error?.code == .invalidModel)
        #expect(error?.line == 1)
        #expect("\(try #require(error))".contains("contents:1: "))
    }

    // MARK: Damage

    /// Any bytes give a model or an error.
    @Test func `a damaged model is read or refused, and nothing else happens`() throws {
        let names = ["Everything.xcdatamodel", "Library.xcdatamodeld/Library 3.xcdatamodel"]
        var random = SeededRandom(for: "ModelRefusalTests")
        for name in names {
            let url = ModelFiles.folder.appending(path: "\(name)/contents")
            let whole = Array(try Data(contentsOf: url))
            #expect(throws: Never.self) { try ModelReader.read(url, modelVersion: "M") }
            for _ in FuzzRounds(1500) {
                let bytes = damaged(whole, &random)
                do throws(XcodeModelError) {
                    let root = try MarkupReader.parse(bytes, of: url)
                    _ = try ModelReader.model(root, of: url, "M")
                } catch {
                    #expect(error.line != nil || error.message.contains("UTF-8"))
                }
            }
        }
    }

    private static let words = [
        "YES", "name", "\"", "<", ">", "/>", "</entity>", "Person", "&amp;", "&x;", "]]>", "<!--",
        "parentEntity=\"Author\"", "99999999999999999999", "\u{0}", "inverseName=\"name\"",
    ].map { Array($0.utf8) }

    private func damaged(_ whole: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = whole
        for _ in 0...random.below(4) {
            let start = random.below(bytes.count)
            let end = min(bytes.count, start + random.below(20))
            switch random.below(4) {
            case 0: bytes[start] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes.insert(contentsOf: bytes[start..<end], at: random.below(bytes.count))
            default:
                bytes.replaceSubrange(start..<end, with: Self.words[random.below(Self.words.count)])
            }
            if bytes.isEmpty { return whole }
        }
        return bytes
    }
}
