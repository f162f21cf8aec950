// Lists and objects as values that follow commits. All of it where the view lives.

extension DataStack {
    /// A list of objects that follows every commit. It needs an OrderBy clause.
    public func publishList<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) -> ListPublisher<B.ObjectType> {
        publish(ListTerms(clauseChain.from, .none, clauseChain.fetchClauses))
    }

    /// The same in sections.
    public func publishList<B: SectionMonitorBuilderType>(
        _ clauseChain: B
    ) -> ListPublisher<B.ObjectType> {
        publish(
            ListTerms(clauseChain.from, clauseChain.sectionBy.rule, clauseChain.fetchClauses))
    }

    public func publishList<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) -> ListPublisher<O> {
        publishList(from, fetchClauses)
    }

    public func publishList<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) -> ListPublisher<O> {
        publish(ListTerms(from, .none, fetchClauses))
    }

    public func publishList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...
    ) -> ListPublisher<O> {
        publishList(from, sectionBy, fetchClauses)
    }

    public func publishList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause]
    ) -> ListPublisher<O> {
        publish(ListTerms(from, sectionBy.rule, fetchClauses))
    }

    /// The same as ``publishList(_:)-(B)``, by the other name that the guide has for it.
    public func listPublisher<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) -> ListPublisher<B.ObjectType> {
        publishList(clauseChain)
    }

    /// The same in sections.
    public func listPublisher<B: SectionMonitorBuilderType>(
        _ clauseChain: B
    ) -> ListPublisher<B.ObjectType> {
        publishList(clauseChain)
    }

    func publish<O>(_ terms: ListTerms) -> ListPublisher<O> {
        let publisher = ListPublisher<O>(ListFeed(self, terms))
        withView { _ in observers.add(publisher, .publisher) }
        // What went wrong is logged; the list is empty until the next step fetches it.
        try? publisher.begin()
        return publisher
    }

    /// The publisher of an object: the same one for each call while it lives.
    public func publishObject<O: DynamicObject>(_ object: O) -> ObjectPublisher<O> {
        publishObject(object.objectID())
    }

    public func publishObject<O: DynamicObject>(_ objectID: O.ObjectID) -> ObjectPublisher<O> {
        publishObject(objectID, watching: [])
    }

    /// The publisher of an object that also tells when a value of a related object changes:
    /// `publishObject(dog, watching: \.$master ~ \.$name)`. It is another one than the publisher
    /// that watches nothing, and the same one for each call with the same path.
    public func publishObject<O: DynamicObject, V>(
        _ object: O, watching path: Where<O>.Expression<Where<O>.SingleTarget, V>
    ) -> ObjectPublisher<O> {
        publishObject(object.objectID(), watching: [Watching(path)])
    }

    /// The same with values of several related objects.
    public func publishObject<O: DynamicObject>(
        _ object: O, watching paths: [Watching<O>]
    ) -> ObjectPublisher<O> {
        publishObject(object.objectID(), watching: paths)
    }

    private func publishObject<O: DynamicObject>(
        _ id: NSManagedObjectID, watching paths: [Watching<O>]
    ) -> ObjectPublisher<O> {
        let paths = paths.map(\.path)
        return publishers.publisher(id, paths) { ObjectPublisher(id, paths, self) }
    }
}
