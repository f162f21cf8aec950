#if canImport(SwiftUI)
    import SwiftUI

    /// A view's property with a list's newest snapshot: the view is drawn again when the list
    /// changes.
    ///
    /// ```swift
    /// @ListState(From<Person>().orderBy(.ascending(\.$name)), in: stack)
    /// var people: ListSnapshot<Person>
    /// ```
    ///
    /// `people` is the snapshot, `$people` its ``ListPublisher``. A list that is given by clauses
    /// is fetched when it is first read, and kept as long as the view is shown; a view that is made
    /// again with other clauses fetches another list, one with equal clauses keeps its list.
    /// Without `in:` it is a list of the program's default stack. The stack's view must live on the
    /// main queue.
    @propertyWrapper
    @MainActor
    public struct ListState<O: DynamicObject>: DynamicProperty {
        /// SwiftUI keeps the one that the view was first made with.
        @State private var kept = KeptList<O>()
        private let source: ListSource<O>

        private init(_ source: ListSource<O>) { self.source = source }

        /// Shows the list of a publisher.
        public init(_ listPublisher: ListPublisher<O>) { self.init(.publisher(listPublisher)) }

        /// Shows the list of a chain of clauses, which needs an order.
        public init<B: FetchChainableBuilderType>(
            _ clauseChain: B, in dataStack: DataStack = CoreStoreDefaults.dataStack
        ) where B.ObjectType == O {
            self.init(clauseChain.from, clauseChain.fetchClauses, in: dataStack)
        }

        /// Shows the list of a chain of clauses in sections, which needs an order.
        public init<B: SectionMonitorBuilderType>(
            _ clauseChain: B, in dataStack: DataStack = CoreStoreDefaults.dataStack
        ) where B.ObjectType == O {
            self.init(
                clauseChain.from, clauseChain.sectionBy, clauseChain.fetchClauses, in: dataStack)
        }

        /// Shows the list of clauses, which need an order.
        public init(
            _ from: From<O>, _ fetchClauses: any FetchClause...,
            in dataStack: DataStack = CoreStoreDefaults.dataStack
        ) {
            self.init(from, fetchClauses, in: dataStack)
        }

        /// Shows the list of clauses in an array, which need an order.
        public init(
            _ from: From<O>, _ fetchClauses: [any FetchClause],
            in dataStack: DataStack = CoreStoreDefaults.dataStack
        ) {
            self.init(.terms(ListTerms(from, .none, fetchClauses), dataStack))
        }

        /// Shows the list of clauses in sections, which need an order.
        public init(
            _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...,
            in dataStack: DataStack = CoreStoreDefaults.dataStack
        ) {
            self.init(from, sectionBy, fetchClauses, in: dataStack)
        }

        /// Shows the list of clauses in an array, in sections, which need an order.
        public init(
            _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause],
            in dataStack: DataStack = CoreStoreDefaults.dataStack
        ) {
            self.init(.terms(ListTerms(from, sectionBy.rule, fetchClauses), dataStack))
        }

        /// The newest snapshot of the list.
        public var wrappedValue: ListSnapshot<O> { projectedValue.snapshot }

        /// The publisher of the list.
        public var projectedValue: ListPublisher<O> { kept.publisher(of: source) }
    }
#endif
