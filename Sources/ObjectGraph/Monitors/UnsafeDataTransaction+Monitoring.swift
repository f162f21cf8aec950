// Lists and objects of an unsafe transaction that are observed. All of it on the thread that uses
// the transaction.

extension UnsafeDataTransaction {
    /// A list of the transaction's objects, with its changes, which needs an OrderBy clause. It
    /// tells what changed when ``flush()``, ``undo()``, ``redo()`` or ``rollback()`` return, and at
    /// commits. Each time it is fetched again and compared. The monitor does not keep the
    /// transaction alive.
    public func monitorList<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) -> ListMonitor<O> {
        monitorList(from, fetchClauses)
    }

    public func monitorList<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) -> ListMonitor<O> {
        monitor(ListTerms(from, .none, fetchClauses))
    }

    public func monitorList<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) -> ListMonitor<B.ObjectType> {
        monitor(ListTerms(clauseChain.from, .none, clauseChain.fetchClauses))
    }

    /// The same list in sections.
    public func monitorSectionedList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...
    ) -> ListMonitor<O> {
        monitorSectionedList(from, sectionBy, fetchClauses)
    }

    public func monitorSectionedList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause]
    ) -> ListMonitor<O> {
        monitor(ListTerms(from, sectionBy.rule, fetchClauses))
    }

    public func monitorSectionedList<B: SectionMonitorBuilderType>(
        _ clauseChain: B
    ) -> ListMonitor<B.ObjectType> {
        monitor(
            ListTerms(clauseChain.from, clauseChain.sectionBy.rule, clauseChain.fetchClauses))
    }

    // MARK: By callback

    /// The same list, handed over before the call returns: a transaction has one thread, so that
    /// nothing is fetched in the background.
    public func monitorList<O>(
        createAsynchronously: (ListMonitor<O>) -> Void, _ from: From<O>,
        _ fetchClauses: any FetchClause...
    ) {
        createAsynchronously(monitorList(from, fetchClauses))
    }

    public func monitorList<O>(
        createAsynchronously: (ListMonitor<O>) -> Void, _ from: From<O>,
        _ fetchClauses: [any FetchClause]
    ) {
        createAsynchronously(monitorList(from, fetchClauses))
    }

    public func monitorList<B: FetchChainableBuilderType>(
        createAsynchronously: (ListMonitor<B.ObjectType>) -> Void, _ clauseChain: B
    ) {
        createAsynchronously(monitorList(clauseChain))
    }

    public func monitorSectionedList<O>(
        createAsynchronously: (ListMonitor<O>) -> Void, _ from: From<O>,
        _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...
    ) {
        createAsynchronously(monitorSectionedList(from, sectionBy, fetchClauses))
    }

    public func monitorSectionedList<O>(
        createAsynchronously: (ListMonitor<O>) -> Void, _ from: From<O>,
        _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause]
    ) {
        createAsynchronously(monitorSectionedList(from, sectionBy, fetchClauses))
    }

    public func monitorSectionedList<B: SectionMonitorBuilderType>(
        createAsynchronously: (ListMonitor<B.ObjectType>) -> Void, _ clauseChain: B
    ) {
        createAsynchronously(monitorSectionedList(clauseChain))
    }

    // MARK: Objects

    /// An object of the transaction that is observed: what changed is told when ``flush()``,
    /// ``undo()``, ``redo()`` or ``rollback()`` return, and at commits, with the names of the
    /// properties that differ. When a deletion is undone, the object is there again, and all of its
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
        // What went wrong is logged; the list is empty until a refetch.
        list.fetchLater(terms) {}
        let monitor = ListMonitor<O>(list)
        changing.observed().add(monitor)
        return monitor
    }
}
