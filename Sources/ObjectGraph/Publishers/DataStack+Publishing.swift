// Lists and objects as values that follow commits. All of it where the view lives.

extension DataStack {
    /// A list of the objects of a chain, as a value that follows every commit. The chain needs an
    /// order, or an assertion of the logger fails.
    ///
    /// Call it where the view lives. The first fetch runs before it returns; one that fails is
    /// logged, and leaves the list empty until the next commit.
    public func publishList<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) -> ListPublisher<B.ObjectType> {
        publish(ListTerms(clauseChain.from, .none, clauseChain.fetchClauses))
    }

    /// A list in sections of the objects of a chain. Its order must sort by the section's property
    /// first, or the sections repeat.
    public func publishList<B: SectionMonitorBuilderType>(
        _ clauseChain: B
    ) -> ListPublisher<B.ObjectType> {
        publish(
            ListTerms(clauseChain.from, clauseChain.sectionBy.rule, clauseChain.fetchClauses))
    }

    /// A list of objects, as a value that follows every commit. The clauses need an order.
    public func publishList<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) -> ListPublisher<O> {
        publishList(from, fetchClauses)
    }

    /// A list of objects, with its clauses in an array. They need an order.
    public func publishList<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) -> ListPublisher<O> {
        publish(ListTerms(from, .none, fetchClauses))
    }

    /// A list in sections. Its order must sort by the section's property first, or the sections
    /// repeat.
    public func publishList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...
    ) -> ListPublisher<O> {
        publishList(from, sectionBy, fetchClauses)
    }

    /// A list in sections, with its clauses in an array.
    public func publishList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause]
    ) -> ListPublisher<O> {
        publish(ListTerms(from, sectionBy.rule, fetchClauses))
    }

    /// An alias of `publishList(_:)`.
    public func listPublisher<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) -> ListPublisher<B.ObjectType> {
        publishList(clauseChain)
    }

    /// An alias of `publishList(_:)` in sections.
    public func listPublisher<B: SectionMonitorBuilderType>(
        _ clauseChain: B
    ) -> ListPublisher<B.ObjectType> {
        publishList(clauseChain)
    }

    func publish<O>(_ terms: ListTerms) -> ListPublisher<O> {
        let publisher = ListPublisher<O>(ListFeed(self, terms))
        withView { _ in observers.add(publisher, .publisher) }
        // The failure is logged; the list is empty until the next step fetches it.
        try? publisher.begin()
        return publisher
    }

    /// The publisher of an object: the same one for each call while it lives. Call it where the
    /// view lives.
    public func publishObject<O: DynamicObject>(_ object: O) -> ObjectPublisher<O> {
        publishObject(object.objectID())
    }

    /// The publisher of the object with this ID, which need not exist: the same one for each call
    /// while it lives.
    public func publishObject<O: DynamicObject>(_ objectID: O.ObjectID) -> ObjectPublisher<O> {
        publishObject(objectID, watching: [])
    }

    /// The publisher of an object that also notifies of changes of a related object's value:
    /// `publishObject(dog, watching: \.$master ~ \.$name)`. It differs from the publisher that
    /// watches nothing, and is the same one for each call with an equal path.
    public func publishObject<O: DynamicObject, V>(
        _ object: O, watching path: Where<O>.Expression<Where<O>.SingleTarget, V>
    ) -> ObjectPublisher<O> {
        publishObject(object.objectID(), watching: [Watching(path)])
    }

    /// The publisher of an object that also notifies of changes of several related objects' values.
    public func publishObject<O: DynamicObject>(
        _ object: O, watching paths: [Watching<O>]
    ) -> ObjectPublisher<O> {
        publishObject(object.objectID(), watching: paths)
    }

    private func publishObject<O: DynamicObject>(
        _ id: NSManagedObjectID, watching paths: [Watching<O>]
    ) -> ObjectPublisher<O> {
        // One that was kept over a migration may have another number or entity now.
        let id = store(id.storeID)?.own(id) ?? id
        let paths = paths.map(\.path)
        return publishers.publisher(id, paths) { ObjectPublisher(id, paths, self) }
    }
}
