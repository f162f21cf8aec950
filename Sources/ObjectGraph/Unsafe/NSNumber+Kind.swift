import Foundation
import RecordStore

extension NSNumber {
    /// The number by the kind that it was made of; nil for one that may be a Bool.
    var kindValue: Value? {
        // Most numbers are of the class itself, which is known without a cast.
        if type(of: self) != NSNumber.self, let decimal = self as? NSDecimalNumber {
            return .decimal(decimal.decimalValue)
        }
        // Safety: Foundation documents a C string that lives as long as the number, so that its
        // first byte can be read.
        let kind = unsafe objCType.pointee
        switch UInt8(bitPattern: kind) {
        case UInt8(ascii: "d"): return .double(doubleValue)
        case UInt8(ascii: "f"): return .float(floatValue)
        case UInt8(ascii: "c"), UInt8(ascii: "B"): return nil
        case UInt8(ascii: "s"), UInt8(ascii: "i"), UInt8(ascii: "l"), UInt8(ascii: "q"):
            return .int(int64Value)
        default:
            return Int64(exactly: self).map { .int($0) } ?? UInt64(exactly: self).map { .uint($0) }
        }
    }
}
