/// How a store is opened, and its limits.
package struct StoreOptions: Sendable {
    package var pageSizeInBytes = 16_384
    package var unitSizeInBytes = 1024
    package var cacheSizeInBytes = 64 << 20
    package var mode = OpenMode.writing
    /// Whether opening for writing makes a store where there is none.
    package var createsFile = true
    package var isCompressed = true
    /// How long opening for writing waits for another process that has the writer's lock.
    package var writerTimeout = Duration.zero
    /// Readers that hold a generation for longer may lose it when its space is needed; nil lets
    /// them keep it for as long as they like.
    package var snapshotAgeMax: Duration?
    /// Whether checkpoints run beside commits, on a thread of their own. Without, the commit
    /// that makes one due waits for it.
    package var checkpointsInBackground = true
    /// The length of a log segment where commits do not ask for more. The first one after an
    /// existing file was opened is no longer than 24 KiB.
    package var logSegmentSizeInBytes = 128 << 10
    /// A checkpoint follows the commit that takes the log past this many bytes.
    package var logBytesMax: UInt64 = 16 << 20
    /// A checkpoint follows the commit that takes the images in memory past this many bytes,
    /// when three quarters of it are left without those that no snapshot shows.
    package var versionBytesMax = 32 << 20
    /// A checkpoint follows the commit that takes the bytes written out of line past this many and
    /// an eighth of the file: the extents that they replaced cannot be reused before.
    package var outOfLineBytesMax: UInt64 = 16 << 20
    /// A store without commits for so long makes a checkpoint of a log of at least
    /// `idleLogBytesMin`, or where one would free much space. Only in the background.
    package var idleIntervalInMilliseconds = 2000
    package var idleLogBytesMin: UInt64 = 1 << 20
    /// While a checkpoint runs, log and images may grow to this many times their limits; then
    /// transactions wait for it to end before they begin.
    package var hardLimitFactor = 4
    /// A relaxed commit is durable after this time at the latest…
    package var relaxedIntervalInMilliseconds = 1000
    /// … or when this many bytes of log are not.
    package var relaxedBytesMax: UInt64 = 1 << 20
    /// The size of changed pages that a transaction may keep in memory before it writes some out.
    package var dirtyBytesMax = 48 << 20
    /// A free end of the file of at least this many bytes, and an eighth of it, is cut off.
    package var tailBytesMin: UInt64 = 256 << 10
    /// An empty tree that gets so many bytes of entries in a batch is built bottom-up. Keys that
    /// are sorted for an index or for links are, however few they are; 64 times as many bytes
    /// are a run of them.
    package var bulkBytesMin = 1 << 20
    /// A transaction with more bytes of pages writes them straight to their extents.
    package var outOfLineBytesMin = 8 << 20
    /// A migration that writes more records than this is carried out in chunks, each committed by
    /// itself…
    package var migrationRowsMax = 100_000
    /// … of at most so many records, and about so many bytes of pages.
    package var migrationChunkRowsMax = 250_000
    package var migrationChunkBytesMax = 64 << 20
    /// The number of pages that each transaction frees when a migration drops replaced trees,
    /// approximately.
    package var migrationDropPagesMax = 4096
    /// For tests: who goes on where threads meet. Nil leaves that to the system.
    package var schedule: (any Schedule)?

    package init() {}
}
