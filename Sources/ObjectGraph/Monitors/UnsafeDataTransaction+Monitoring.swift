// Lists and objects of an unsafe transaction that are observed. All of it on the thread that uses
// the transaction.

extension UnsafeDataTransaction {
    /// A list of the transaction's objects, with its uncommitted changes. The clauses need an
    /// order.
    ///
    /// Observers are notified when ``flush()``, ``undo()``, ``redo()`` or ``rollback()`` return,
    /// and at commits. Each time the list is fetched again and compared. The monitor does not keep
    /// the transaction alive.
    public func monitorList<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) -> ListMonitor<O> {
        monitorList(from, fetchClauses)
    }

    /// A list of the transaction's objects, with its clauses in an array. They need an order.
    public func monitorList<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) -> ListMonitor<O> {
        monitor(ListTerms(from, .none, fetchClauses))
    }

    /// A list of the transaction's objects of a chain. The chain needs an order.
    public func monitorList<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) -> ListMonitor<B.ObjectType> {
        monitor(ListTerms(clauseChain.from, .none, clauseChain.fetchClauses))
    }

    /// A list in sections of the transaction's objects. Its order must sort by the section's
    /// property first.
    public func monitorSectionedList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...
    ) -> ListMonitor<O> {
        monitorSectionedList(from, sectionBy, fetchClauses)
    }

    /// A list in sections of the transaction's objects, with its clauses in an array.
    public func monitorSectionedList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause]
    ) -> ListMonitor<O> {
        monitor(ListTerms(from, sectionBy.rule, fetchClauses))
    }

    /// A list in sections of the transaction's objects of a chain.
    public func monitorSectionedList<B: SectionMonitorBuilderType>(
        _ clauseChain: B
    ) -> ListMonitor<B.ObjectType> {
        monitor(
            ListTerms(clauseChain.from, clauseChain.sectionBy.rule, clauseChain.fetchClauses))
    }

    // MARK: By callback

    /// A list of the transaction's objects, which the closure receives before the call returns: a
    /// transaction has one thread, so that nothing is fetched in the background.
    public func monitorList<O>(
        createAsynchronously: (ListMonitor<O>) -> Void, _ from: From<O>,
        _ fetchClauses: any FetchClause...
    ) {
        createAsynchronously(monitorList(from, fetchClauses))
    }

    /// A list of the transaction's objects, which the closure receives before the call returns.
    public func monitorList<O>(
        createAsynchronously: (ListMonitor<O>) -> Void, _ from: From<O>,
        _ fetchClauses: [any FetchClause]
    ) {
        createAsynchronously(monitorList(from, fetchClauses))
    }

    /// A list of the transaction's objects of a chain, which the closure receives before the call
    /// returns.
    public func monitorList<B: FetchChainableBuilderType>(
        createAsynchronously: (ListMonitor<B.ObjectType>) -> Void, _ clauseChain: B
    ) {
        createAsynchronously(monitorList(clauseChain))
    }

    /// A list in sections of the transaction's objects, which the closure receives before the call
    /// returns.
    public func monitorSectionedList<O>(
        createAsynchronously: (ListMonitor<O>) -> Void, _ from: From<O>,
        _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...
    ) {
        createAsynchronously(monitorSectionedList(from, sectionBy, fetchClauses))
    }

    /// A list in sections of the transaction's objects, which the closure receives before the call
    /// returns.
    public func monitorSectionedList<O>(
        createAsynchronously: (ListMonitor<O>) -> Void, _ from: From<O>,
        _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause]
    ) {
        createAsynchronously(monitorSectionedList(from, sectionBy, fetchClauses))
    }

    /// A list in sections of the transaction's objects of a chain, which the closure receives
    /// before the call returns.
    public func monitorSectionedList<B: SectionMonitorBuilderType>(
        createAsynchronously: (ListMonitor<B.ObjectType>) -> Void, _ clauseChain: B
    ) {
        createAsynchronously(monitorSectionedList(clauseChain))
    }

    // MARK: Objects

    /// Observes an object of the transaction: its observers are notified when ``flush()``,
    /// ``undo()``, ``redo()`` or ``rollback()`` return, and at commits, with the names of the
    /// changed properties. When a deletion is undone, the object exists again, and all of its
    /// properties count as changed.
    public func monitorObject<O: DynamicObject>(_ object: O) -> ObjectMonitor<O> {
        checkOpen()
        let monitor = ObjectMonitor<O>(object.objectID(), [], stack, in: changing)
        changing.observed().add(monitor)
        return monitor
    }

    private func monitor<O>(_ terms: ListTerms) -> ListMonitor<O> {
        checkOpen()
        let list = TransactionList(changing, stack.link, terms)
        // The failure is logged; the list is empty until a refetch.
        list.fetchOrReport(terms)
        let monitor = ListMonitor<O>(list)
        changing.observed().add(monitor)
        return monitor
    }
}
