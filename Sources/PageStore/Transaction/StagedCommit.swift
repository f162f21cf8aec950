/// A transaction that has ended and waits for the log.
///
/// It pins its own commit from the moment at which it was staged, as a snapshot does, so that
/// ``snapshot()`` shows exactly this commit however many others the same write made durable.
package final class StagedCommit: Sendable {
    private let parts: StoreParts
    private let pin: SnapshotPin
    private let durability: Durability

    /// Takes the pin over.
    init(_ parts: StoreParts, _ pin: SnapshotPin, _ durability: Durability) {
        self.parts = parts
        self.pin = pin
        self.durability = durability
    }

    deinit { parts.pager.unpin(pin) }

    package var number: UInt64 { pin.commitNumber }

    /// Waits until the commit is as safe as was asked for and readers see it.
    package func finish() throws(StoreError) {
        try Commit(parts).finish(number, durability)
    }

    /// The store as this commit left it. To be asked after ``finish()`` has returned.
    ///
    /// Throws `closed` when the store was closed meanwhile.
    package func snapshot() throws(StoreError) -> Snapshot {
        try parts.pager.pinFinished(pin)
        return Snapshot(parts.pager, pin)
    }
}
