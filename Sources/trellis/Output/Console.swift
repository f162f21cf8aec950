import ArgumentParser
import Foundation
import PageStore
import RecordStore

/// Messages to the user: results on the output, errors on the error output.
enum Console {
    static func warn(_ error: StoreError) {
        FileHandle.standardError.write(Data("trellis: \(error)\n".utf8))
    }

    /// Prints an error; the code to leave with.
    static func failure(_ error: StoreError) -> ExitCode {
        warn(error)
        return ExitCode(1)
    }

    /// Lines of a name and a value, the values below each other.
    static func print(_ members: [(name: String, value: String)]) {
        let width = members.map(\.name.count).max() ?? 0
        for member in members {
            Swift.print(padded(member.name, width) + member.value)
        }
    }

    /// A name before a value, where the longest name has so many characters.
    static func padded(_ name: String, _ width: Int) -> String {
        name + String(repeating: " ", count: max(0, width + 2 - name.count))
    }

    static func print(_ json: JSONText) { Swift.print(json.text) }

    static func json(_ error: StoreError) -> JSONText {
        json(Finding(error))
    }

    static func json(_ finding: Finding) -> JSONText {
        .object([
            (name: "code", value: .string(finding.code.rawValue)),
            (name: "message", value: .string(finding.message)),
            (name: "page", value: .optional(finding.page?.rawValue)),
            (name: "byteOffset", value: .optional(finding.byteOffset)),
        ])
    }
}

/// Bytes as a person can read them.
enum ByteText {
    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    /// Text when the bytes are printable ASCII, else hexadecimal digits; long ones are cut.
    static func short(_ bytes: [UInt8], limit: Int = 48) -> String {
        let isText = !bytes.isEmpty && bytes.allSatisfy { $0 >= 32 && $0 < 127 }
        let shown = bytes.prefix(limit)
        let text =
            isText ? "\"\(String(decoding: shown, as: UTF8.self))\"" : hex(shown)
        return bytes.count > limit ? "\(text)… (\(bytes.count) bytes)" : text
    }
}
