/// How safe a transaction is when its call returns. Every mode keeps the order of commits: a crash
/// leaves a prefix of them, and never a part of one.
public enum Durability: Hashable, Sendable {
    /// On the medium: no power cut loses it. Transactions that wait at the same time share one
    /// write.
    case durable
    /// Durable as above, after waiting up to the delay for other transactions to share the write:
    /// for many threads that commit at once. The delay is added to a lone transaction.
    case grouped(maxDelay: Duration)
    /// In the system's hands: it survives the end of the process, and a power cut loses at most
    /// the last second of such commits. A later durable commit or checkpoint makes it durable.
    case relaxed
    /// On the medium, with all pages written straight to their extents and the log naming them: for
    /// loads that change most pages that they touch. Large transactions use it by themselves.
    case bulk
}
