import Foundation

/// An element of a model file, with the wording of its errors.
struct ModelElement {
    private let element: MarkupElement
    private let fileURL: URL

    init(_ element: MarkupElement, of fileURL: URL) {
        self.element = element
        self.fileURL = fileURL
    }

    var attributes: [String: String] { element.attributes }

    subscript(_ name: String) -> String? { element[name] }

    func children(_ name: String) -> [ModelElement] {
        element.children(name).map { ModelElement($0, of: fileURL) }
    }

    func failure(_ code: XcodeModelError.Code, _ message: String) -> XcodeModelError {
        XcodeModelError(code, fileURL, line: element.line, message)
    }

    func required(_ name: String) throws(XcodeModelError) -> String {
        guard let value = element[name] else {
            throw failure(.invalidModel, "an element “\(element.name)” has no \(name)")
        }
        return value
    }

    /// True for an attribute that Xcode wrote as `YES`; false for one that it left out.
    func flag(_ name: String) throws(XcodeModelError) -> Bool {
        switch element[name] {
        case "YES": return true
        case "NO", nil: return false
        case let value?:
            throw failure(.invalidModel, "\(name) is “\(value.prefix(100))”, not YES or NO")
        }
    }

    /// A number of objects; zero when the attribute is missing.
    func count(_ name: String) throws(XcodeModelError) -> Int {
        guard let text = element[name] else { return 0 }
        guard let count = Int32(text), count >= 0 else {
            throw failure(.invalidModel, "\(name) is “\(text.prefix(100))”, which is no count")
        }
        return Int(count)
    }

    /// The renaming identifier where it says something.
    var previousName: String? {
        element["elementID"].flatMap { $0 == element["name"] ? nil : $0 }
    }
}
