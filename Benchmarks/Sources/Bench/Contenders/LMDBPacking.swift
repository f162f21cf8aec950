import Foundation

/// A person: balance, createdAt, age, the sizes of three texts, the texts. A dog: owner, age, the
/// nickname.
struct Packed {
    var bytes: UnsafeRawBufferPointer

    private static let textOffset = 30

    var balance: Double { bytes.loadUnaligned(as: Double.self) }
    var age: Int { Int(bytes.loadUnaligned(fromByteOffset: 16, as: Int64.self)) }
    var name: String { String(decoding: nameBytes, as: UTF8.self) }
    var email: String { text(from: Self.textOffset + size(0), size(1)) }
    var owner: Int64 { bytes.loadUnaligned(as: Int64.self) }
    var nickname: String { String(decoding: bytes[16...], as: UTF8.self) }
    var dogAge: Int { Int(bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)) }

    var nameBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[Self.textOffset..<(Self.textOffset + size(0))])
    }

    var person: PersonSource {
        PersonSource(
            name: name, email: email, age: age, balance: balance,
            createdAt: Date(
                timeIntervalSinceReferenceDate: bytes.loadUnaligned(
                    fromByteOffset: 8, as: Double.self)),
            bio: text(from: Self.textOffset + size(0) + size(1), size(2)))
    }

    private func size(_ index: Int) -> Int {
        Int(bytes.loadUnaligned(fromByteOffset: 24 + 2 * index, as: UInt16.self))
    }

    private func text(from offset: Int, _ size: Int) -> String {
        String(decoding: bytes[offset..<(offset + size)], as: UTF8.self)
    }
}

func withPacked(
    _ person: PersonSource, _ body: (UnsafeRawBufferPointer) throws -> Void
) rethrows {
    let texts = [person.name, person.email, person.bio]
    let size = texts.reduce(30) { $0 + $1.utf8.count }
    try withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { bytes in
        bytes.storeBytes(of: person.balance, as: Double.self)
        bytes.storeBytes(
            of: person.createdAt.timeIntervalSinceReferenceDate, toByteOffset: 8, as: Double.self)
        bytes.storeBytes(of: Int64(person.age), toByteOffset: 16, as: Int64.self)
        var offset = 30
        for (index, text) in texts.enumerated() {
            var text = text
            text.withUTF8 { source in
                bytes.storeBytes(
                    of: UInt16(source.count), toByteOffset: 24 + 2 * index, as: UInt16.self)
                UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
                    .copyMemory(from: UnsafeRawBufferPointer(source))
                offset += source.count
            }
        }
        try body(UnsafeRawBufferPointer(bytes))
    }
}

func withPacked(
    _ dog: DogSource, _ owner: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void
) rethrows {
    var nickname = dog.nickname
    try nickname.withUTF8 { source in
        try withUnsafeTemporaryAllocation(byteCount: 16 + source.count, alignment: 8) { bytes in
            bytes.storeBytes(of: owner, as: Int64.self)
            bytes.storeBytes(of: Int64(dog.age), toByteOffset: 8, as: Int64.self)
            UnsafeMutableRawBufferPointer(rebasing: bytes[16...])
                .copyMemory(from: UnsafeRawBufferPointer(source))
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}
