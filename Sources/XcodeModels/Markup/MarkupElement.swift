/// One element of a file, with those inside it and its own text.
final class MarkupElement {
    let name: String
    /// The line on which its first tag ends.
    let line: Int
    let attributes: [String: String]
    private(set) var children: [MarkupElement] = []
    private(set) var text = ""

    init(name: String, line: Int, attributes: [String: String]) {
        self.name = name
        self.line = line
        self.attributes = attributes
    }

    func append(_ text: String) { self.text += text }

    func append(_ child: MarkupElement) { children.append(child) }

    func children(_ name: String) -> [MarkupElement] { children.filter { $0.name == name } }

    /// An attribute that says something: Xcode leaves some of them empty.
    subscript(_ name: String) -> String? {
        attributes[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
