/// How safe a transaction is when its call returns. Every mode keeps the order of commits: a crash
/// leaves of each storage a prefix of them, and never a part of one.
public enum Durability: Hashable, Sendable {
    /// On the medium: no power cut loses the commit. Transactions that wait at the same time share
    /// one write.
    case durable
    /// On the medium, after waiting up to the delay for other transactions to share the write with:
    /// for many threads that commit at once. A lone transaction takes longer by the delay.
    case grouped(maxDelay: Duration)
    /// In the operating system's memory: the commit survives the end of the process, and a power
    /// cut loses at most the last second of such commits. A later durable commit or checkpoint
    /// makes it durable. A large transaction, whose pages are written out of line, waits for the
    /// medium all the same.
    case relaxed
    /// On the medium, with all pages written directly to their final positions and the log naming
    /// them: for loads that change most of the pages that they touch. The engine writes large
    /// transactions like this in any mode.
    case bulk
}
