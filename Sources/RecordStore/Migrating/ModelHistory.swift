import Foundation
import PageStore

/// Byte offsets within a model's entry in the history: spec/07-catalog.md, 7.7.
package enum ModelHistoryLayout {
    package static let fingerprint = 0
    package static let commitNumber = 16
    package static let time = 24
    package static let nameSize = 32
    package static let name = 34
}

/// The models that a file has had, in order, its current one last: spec/07-catalog.md, 7.7. A
/// program with any of the others is older than the file. Models that a program listed before its
/// own in its migration chain are included.
package struct ModelHistory: Equatable, Sendable {
    package struct Model: Equatable, Sendable {
        package var fingerprint: SchemaFingerprint
        /// The name of the model's version.
        package var version: String
        /// The commit that made it the file's model; zero if unknown.
        package var commitNumber: UInt64 = 0
        /// The time of that commit, in nanoseconds since 1970; zero if unknown.
        package var time: UInt64 = 0

        init(_ schema: SchemaDescription) {
            fingerprint = schema.fingerprint
            version = schema.modelVersion
        }

        fileprivate init(_ fingerprint: SchemaFingerprint, _ version: String) {
            self.fingerprint = fingerprint
            self.version = version
        }
    }

    static let form = 1
    static let modelCountMax = 64
    private static let nameSizeInBytesMax = 1024
    private static let headerSize = 4
    private typealias Layout = ModelHistoryLayout

    package private(set) var models: [Model] = []

    /// The history of a file that has not saved one yet.
    init(of schema: SchemaDescription?) {
        if let schema { models = [Model(schema)] }
    }

    // MARK: Saved form

    init(_ bytes: [UInt8], page: PageID) throws(StoreError) {
        func damage(_ message: String) -> StoreError {
            .corrupt(page, "the catalog's entry \(Catalog.historyKey) \(message)")
        }
        guard bytes.count >= Self.headerSize else { throw damage("is too short") }
        let (form, count) = bytes.withView { ($0.uint16(at: 0), Int($0.uint16(at: 2))) }
        guard form == Self.form else {
            throw StoreError(
                .newerFormat,
                "the history of models has version \(form); this program knows \(Self.form)",
                page: page.rawValue)
        }
        guard (1...Self.modelCountMax).contains(count) else { throw damage("has \(count) models") }
        var start = Self.headerSize
        var known: Set<SchemaFingerprint> = []
        for _ in 0..<count {
            guard start + Layout.name <= bytes.count else { throw damage("is cut off") }
            let end =
                start + Layout.name + Int(bytes.withView { $0.uint16(at: start + Layout.nameSize) })
            guard end <= bytes.count else { throw damage("is cut off") }
            let name = String(validating: bytes[(start + Layout.name)..<end], as: UTF8.self)
            guard let name else { throw damage("has a name that is not UTF-8") }
            let numbers = bytes.withView { bytes in
                [0, 8, Layout.commitNumber, Layout.time].map { bytes.uint64(at: start + $0) }
            }
            var model = Model(SchemaFingerprint(low: numbers[0], high: numbers[1]), name)
            (model.commitNumber, model.time) = (numbers[2], numbers[3])
            guard known.insert(model.fingerprint).inserted else {
                throw damage("has a model twice")
            }
            models.append(model)
            start = end
        }
        guard start == bytes.count else { throw damage("goes on after its last model") }
    }

    var bytes: [UInt8] {
        let buffer = ByteBuffer(capacity: Self.headerSize + models.count * 2 * Layout.name)
        buffer.appendUInt16(UInt16(Self.form))
        buffer.appendUInt16(UInt16(clamping: models.count))
        for model in models {
            buffer.appendUInt64(model.fingerprint.low)
            buffer.appendUInt64(model.fingerprint.high)
            buffer.appendUInt64(model.commitNumber)
            buffer.appendUInt64(model.time)
            var name = model.version
            while name.utf8.count > Self.nameSizeInBytesMax { name.removeLast() }
            buffer.appendUInt16(UInt16(clamping: name.utf8.count))
            Array(name.utf8).withView { buffer.append($0) }
        }
        return buffer.view.array()
    }

    // MARK: Use

    /// Appends models in order; the last is the file's model from this commit on.
    ///
    /// - Parameter earlier: models known to precede them, which the file may never have had.
    mutating func add(
        _ schemas: [SchemaDescription], earlier: [SchemaDescription], commitNumber: UInt64,
        time: UInt64
    ) {
        let known = Set(models.map(\.fingerprint))
        let others = earlier.filter { !known.contains($0.fingerprint) }
        for schema in others + schemas {
            var model = Model(schema)
            (model.commitNumber, model.time) = (commitNumber, time)
            models.removeAll { $0.fingerprint == model.fingerprint }
            models.append(model)
        }
        models.removeFirst(max(0, models.count - Self.modelCountMax))
    }

    /// The history without commit numbers, for another file, whose commits differ.
    var withoutCommits: ModelHistory {
        var history = self
        for index in models.indices { history.models[index].commitNumber = 0 }
        return history
    }

    /// Whether the file had this model before its current one.
    package func isEarlier(_ schema: SchemaDescription) -> Bool { index(ofEarlier: schema) != nil }

    private func index(ofEarlier schema: SchemaDescription) -> Int? {
        let fingerprint = schema.fingerprint
        return models.dropLast().firstIndex { $0.fingerprint == fingerprint }
    }

    /// Throws `newerModel` if the file had the program's model before its current one.
    func refuse(_ program: SchemaDescription) throws(StoreError) {
        guard let index = index(ofEarlier: program), let current = models.last else { return }
        throw StoreError(
            .newerModel,
            "the program's model, “\(program.modelVersion)”, is earlier than that of the file, "
                + "“\(current.version)”: the file has had a later one \(models[index + 1].since)")
    }
}

extension ModelHistory.Model {
    /// The time since which a file has the model, for messages.
    fileprivate var since: String {
        guard time > 0 else { return "for a time that is not known" }
        return "since \(timeText)" + (commitNumber > 0 ? " (commit \(commitNumber))" : "")
    }

    /// The time in UTC, in ISO 8601 form.
    package var timeText: String {
        Date(timeIntervalSince1970: Double(time / 1_000_000_000)).formatted(.iso8601)
    }
}

extension Catalog {
    static let historyKey = "history"

    /// The models that the file has had; nil if unknown.
    func history(_ view: PageView) throws(StoreError) -> ModelHistory? {
        guard let bytes = try entry(Self.historyKey, of: view) else { return nil }
        return try ModelHistory(bytes, page: root.root)
    }

    /// Adds models to the history, in the transaction that makes the last of them the file's model.
    ///
    /// - Parameter stored: the file's model so far, for a file without a history; nil for a new
    ///   file, or if that model is not known to be earlier.
    func noteModels(
        _ schemas: [SchemaDescription], after stored: SchemaDescription?,
        earlier: [SchemaDescription], at time: UInt64, in editor: WriteTransaction
    ) throws(StoreError) {
        var history = try history(editor) ?? ModelHistory(of: stored)
        history.add(
            schemas, earlier: earlier, commitNumber: editor.nextCommitNumber, time: time)
        try setEntry(Self.historyKey, history.bytes, in: editor)
    }
}
