import Foundation

/// Reads a binary property list, in which Xcode stores expressions. Foundation's reader gives no
/// references between archived objects off Apple's platforms.
///
/// The list is a table of objects that name each other by their index. A collection is read as the
/// indexes that it names, never as what they lead to, so that no depth and no circle of the file
/// is followed here.
struct BinaryPropertyList {
    /// The largest archive of an expression that is read, and how many objects it may have.
    static let sizeInBytesMax = 64 * 1024
    static let objectCountMax = 4096

    enum Object: Equatable {
        case null
        case bool(Bool)
        case int(Int64)
        case real(Double)
        /// Seconds since the reference date.
        case date(Double)
        case data([UInt8])
        case string(String)
        /// A reference to an element of an archive's `$objects`.
        case reference(Int)
        case array([Int])
        /// Indexes of keys and of values.
        case dictionary([Int], [Int])
    }

    /// The bytes are no list, or not what its reader expects.
    struct Failure: Error {
        let message: String
        /// What the list holds that its reader does not read, where it is a valid one.
        var unsupported: String?
    }

    private let bytes: [UInt8]
    private let offsets: [Int]
    private let referenceSize: Int
    private let topIndex: Int

    /// The outermost object.
    func top() throws(Failure) -> Object { try object(topIndex) }

    init(_ bytes: [UInt8]) throws(Failure) {
        let trailerSize = 32
        guard bytes.count <= Self.sizeInBytesMax else {
            throw Failure(message: "it has more than \(Self.sizeInBytesMax) bytes")
        }
        guard bytes.starts(with: Array("bplist00".utf8)), bytes.count >= 8 + trailerSize else {
            throw Failure(message: "it is no binary property list")
        }
        self.bytes = bytes
        let trailer = bytes.count - trailerSize
        let offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.integer(bytes, at: trailer + 8, size: 8),
            let top = Self.integer(bytes, at: trailer + 16, size: 8),
            let table = Self.integer(bytes, at: trailer + 24, size: 8),
            (1...Self.objectCountMax).contains(count), (0..<count).contains(top),
            (8...trailer).contains(table), count * offsetSize <= trailer - table
        else { throw Failure(message: "its table of objects is not in it") }
        topIndex = top
        var offsets: [Int] = []
        for index in 0..<count {
            let place = table + index * offsetSize
            guard let offset = Self.integer(bytes, at: place, size: offsetSize),
                (8..<table).contains(offset)
            else { throw Failure(message: "its object \(index) is not in it") }
            offsets.append(offset)
        }
        self.offsets = offsets
    }

    /// A big-endian integer; nil where it runs past the end or is larger than any place.
    private static func integer(_ bytes: [UInt8], at offset: Int, size: Int) -> Int? {
        guard offset >= 0, size <= 8, offset <= bytes.count - size else { return nil }
        let bits = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: bits)
    }

    // MARK: Objects

    /// The object of an index.
    func object(_ index: Int) throws(Failure) -> Object {
        guard offsets.indices.contains(index) else {
            throw Failure(message: "it has no object \(index)")
        }
        let offset = offsets[index]
        let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 0x0F))
        switch kind {
        case 0x0:
            switch low {
            case 0: return .null
            case 8: return .bool(false)
            case 9: return .bool(true)
            default: break
            }
        case 0x1 where low <= 3: return .int(try signed(at: offset + 1, size: 1 << low))
        case 0x2 where low == 2 || low == 3:
            return .real(try real(at: offset + 1, size: 1 << low))
        case 0x3 where low == 3: return .date(try real(at: offset + 1, size: 8))
        case 0x4: return .data(Array(try part(offset, low, width: 1)))
        case 0x5, 0x6, 0x7: return .string(try text(kind, offset, low))
        case 0x8:
            guard let number = Self.integer(bytes, at: offset + 1, size: low + 1) else {
                throw Failure(message: "its object \(index) is cut off")
            }
            return .reference(number)
        case 0xA, 0xC:
            return .array(try indexes(part(offset, low, width: referenceSize)))
        case 0xD:
            let all = try indexes(part(offset, low, width: 2 * referenceSize))
            return .dictionary(Array(all[..<(all.count / 2)]), Array(all[(all.count / 2)...]))
        default: break
        }
        throw Failure(message: "its object \(index) is of an unknown kind")
    }

    /// Integers of eight bytes are signed, shorter ones are not.
    private func signed(at offset: Int, size: Int) throws(Failure) -> Int64 {
        guard offset <= bytes.count - size else { throw Failure(message: "an integer is cut off") }
        let bits = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(bitPattern: bits)
    }

    private func real(at offset: Int, size: Int) throws(Failure) -> Double {
        let bits = UInt64(bitPattern: try signed(at: offset, size: size))
        return size == 4
            ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits)
    }

    private func text(_ kind: UInt8, _ offset: Int, _ low: Int) throws(Failure) -> String {
        let text: String?
        if kind == 0x6 {
            let units = Array(try part(offset, low, width: 2))
            text = String(
                validating: stride(from: 0, to: units.count, by: 2).map {
                    UInt16(units[$0]) << 8 | UInt16(units[$0 + 1])
                }, as: UTF16.self)
        } else {
            text = String(validating: try part(offset, low, width: 1), as: UTF8.self)
        }
        guard let text else { throw Failure(message: "a text is none") }
        return text
    }

    private func indexes(_ part: ArraySlice<UInt8>) throws(Failure) -> [Int] {
        var indexes: [Int] = []
        for place in stride(from: part.startIndex, to: part.endIndex, by: referenceSize) {
            guard let index = Self.integer(bytes, at: place, size: referenceSize) else {
                throw Failure(message: "a reference is cut off")
            }
            indexes.append(index)
        }
        return indexes
    }

    /// The bytes of an object with a count of elements: in its first byte, or in an integer after.
    private func part(
        _ offset: Int, _ low: Int, width: Int
    ) throws(Failure) -> ArraySlice<UInt8> {
        var (count, start) = (low, offset + 1)
        if low == 0x0F {
            guard start < bytes.count, bytes[start] >> 4 == 0x1, bytes[start] & 0x0F <= 3 else {
                throw Failure(message: "a count is none")
            }
            let size = 1 << Int(bytes[start] & 0x0F)
            guard let long = Self.integer(bytes, at: start + 1, size: size) else {
                throw Failure(message: "a count is cut off")
            }
            (count, start) = (long, start + 1 + size)
        }
        guard start <= bytes.count, count <= (bytes.count - start) / width else {
            throw Failure(message: "an object is longer than the list")
        }
        return bytes[start..<start + count * width]
    }
}
