import Foundation
import TestSupport
import Testing

@testable import trellis

/// A printed date gives the stored instant exactly.
@Suite struct DateTextTests {
    /// The seconds of a printed date, rounded once.
    private func seconds(_ text: String) throws -> Double {
        guard text.hasSuffix("Z") else { return try #require(Double(text)) }
        let day = try Date("\(text.prefix { $0 != "." })Z", strategy: .iso8601)
        let whole = day.timeIntervalSinceReferenceDate
        let decimals = text.drop { $0 != "." }.dropLast()
        #expect(decimals.count > 6)
        let exact = try #require(Decimal(string: "0\(decimals)")) + Decimal(Int(whole))
        return try #require(Double("\(exact)"))
    }

    @Test(arguments: [
        (0, "2001-01-01T00:00:00.000000Z"), (627470580.418, "2020-11-19T09:23:00.418000Z"),
        (-0.25, "2000-12-31T23:59:59.750000Z"), (-1, "2000-12-31T23:59:59.000000Z"),
        (0.9999999, "2001-01-01T00:00:00.9999999Z"), (-0.0001, "2000-12-31T23:59:59.999900Z"),
        (1e-5, "1e-05"), (-6e10, "-60000000000.0"), (6.5e18, "6.5e+18"), (.infinity, "inf"),
        (.nan, "nan"),
    ])
    func `a date is printed with as many decimals as it needs`(seconds: Double, text: String) {
        #expect(ValueText.date(seconds) == text)
    }

    @Test func `reading a printed date gives the same instant`() throws {
        var random = SeededRandom(for: "dates")
        for round in 0..<20_000 {
            let date: Double =
                switch round % 5 {
                case 0: Double(bitPattern: random.next())
                case 1: Double.random(in: -6.5e10...6.5e10, using: &random)
                case 2: Double.random(in: 0...1e9, using: &random)
                case 3: (Double.random(in: 0...1e9, using: &random) * 1000).rounded() / 1000
                default: Double.random(in: -2...2, using: &random)
                }
            guard !date.isNaN else { continue }
            let text = ValueText.date(date)
            #expect(try seconds(text) == date, "\(date) is printed as \(text)")
        }
    }

    @Test func `a commit's time is printed to the microsecond`() {
        #expect(
            ValueText.date(nanosecondsSince1970: 1_234_567_890_123_456_789)
                == "2009-02-13T23:31:30.123456Z")
    }
}
