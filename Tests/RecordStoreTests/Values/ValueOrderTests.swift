import Foundation
import PageStore
import RecordStore
import TestSupport
import Testing

@Suite struct ValueOrderTests {
    private static let numbers: [Value] = {
        let whole: [Value] = [
            .int(.min), .int(.min + 1), .int(-1), .int(0), .int(1), .int(9_007_199_254_740_993),
            .int(.max), .uint(0), .uint(.max), .uint(18_446_744_073_709_549_568), .bool(true),
        ]
        let floating = [
            0, -0.0, 0.1, -0.1, 1e-300, 1e-120, 9_007_199_254_740_992, 1.844674407370955e19,
            1.8446744073709552e19, -9.223372036854775e18, 1e23, 1e140, 1e165, 1e200, -1e200,
            .infinity, -.infinity, .nan,
        ].map { Value.double($0) }
        let exact = [
            "0.1", "-0.1", "18446744073709550000", "18446744073709549568", "9007199254740993",
            "-9223372036854775807", "1e100", "1e-120", "0",
        ].map { Value.decimal(Decimal(string: $0) ?? .nan) }
        return whole + floating + exact
            + [.float(0.1), .decimal(.greatestFiniteMagnitude), .decimal(.nan), .null]
    }()

    @Test(arguments: numbers)
    func `numbers of all kinds have one order`(_ a: Value) {
        for b in Self.numbers {
            let order = Value.compare(a, b).signum()
            #expect(order == -Value.compare(b, a).signum(), "\(a) \(b)")
            if order == 0 { #expect(a.hashValue == b.hashValue, "\(a) \(b)") }
            for c in Self.numbers where order <= 0 && Value.compare(b, c) <= 0 {
                let isEqual = order == 0 && Value.compare(b, c) == 0
                let end = Value.compare(a, c)
                #expect(isEqual ? end == 0 : end < 0, "\(a) \(b) \(c)")
            }
        }
    }

    @Test(arguments: [
        Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude, .nan,
        Decimal(sign: .minus, exponent: -128, significand: 7),
        Decimal(sign: .plus, exponent: 127, significand: 99),
    ])
    func `the extremes of a decimal are read back from their bytes`(_ number: Decimal) {
        var bytes: [UInt8] = []
        DecimalForm.append(number, to: &bytes)
        let read = bytes.withView { DecimalForm.read($0)?.number }
        #expect(read.map { .decimal($0) } == Value.decimal(number))
    }

    @Test func `random bytes are a decimal or nothing`() {
        var random = SeededRandom(for: "ValueOrderTests")
        for _ in 0..<20_000 {
            var bytes = random.bytes(random.below(36))
            if !bytes.isEmpty { bytes[0] &= 3 }
            guard let number = bytes.withView({ DecimalForm.read($0)?.number }) else { continue }
            var again: [UInt8] = []
            DecimalForm.append(number, to: &again)
            #expect(again.withView { DecimalForm.read($0)?.number } == number || number.isNaN)
        }
    }
}
