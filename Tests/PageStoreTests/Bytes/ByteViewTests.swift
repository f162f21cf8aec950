import Testing

@testable import PageStore

@Suite struct ByteViewTests {
    @Test func `bytes are zero unless one of them is not, wherever it is`() {
        for count in 0..<100 {
            var bytes = [UInt8](repeating: 0, count: count)
            #expect(bytes.withView { $0.isZero })
            for index in 0..<count {
                bytes[index] = 1
                #expect(!bytes.withView { $0.isZero }, "\(index) of \(count)")
                bytes[index] = 0
            }
        }
    }
}
