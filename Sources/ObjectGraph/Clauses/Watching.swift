/// Makes an observed list count a change of a related object as an update of its own object:
/// `.watching(\.$master ~ \.$name)`.
///
/// Related objects that conditions, orders and sections depend on are followed without it. A fetch
/// ignores the clause.
public struct Watching<O: DynamicObject>: FetchClause {
    let path: [String]

    /// A path to watch.
    ///
    /// - Parameter path: leads across to-one relationships to an attribute.
    public init<V>(_ path: Where<O>.Expression<Where<O>.SingleTarget, V>) { self.path = path.path }

    public func applyToFetchRequest<Result>(_ fetchRequest: NSFetchRequest<Result>) {
        fetchRequest.terms.watchedPaths.append(path)
    }
}

extension From {
    /// Counts a change of a related object as an update of a list's object.
    public func watching<V>(
        _ path: Where<O>.Expression<Where<O>.SingleTarget, V>
    ) -> FetchChainBuilder<O> {
        appending(Watching(path))
    }
}

extension FetchChainBuilder {
    /// Counts a change of a related object as an update of a list's object.
    public func watching<V>(
        _ path: Where<O>.Expression<Where<O>.SingleTarget, V>
    ) -> FetchChainBuilder<O> {
        appending(Watching(path))
    }
}

extension SectionMonitorChainBuilder {
    /// Counts a change of a related object as an update of a list's object.
    public func watching<V>(
        _ path: Where<O>.Expression<Where<O>.SingleTarget, V>
    ) -> SectionMonitorChainBuilder<O> {
        appending(Watching(path))
    }
}
