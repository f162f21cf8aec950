/// The source of the list that a view shows.
enum ListSource<O: DynamicObject> {
    case publisher(ListPublisher<O>)
    case terms(ListTerms, DataStack)
}

/// The list of a view that is made anew again and again, with equal clauses or with others. Used
/// where the stack's view lives.
final class KeptList<O: DynamicObject> {
    private var made: (terms: ListTerms, publisher: ListPublisher<O>)?

    init() {}

    /// The publisher of a source, the same one for each call with equal clauses. The earlier one is
    /// released after the new one exists, so that parts which both lists share are not fetched
    /// twice.
    func publisher(of source: ListSource<O>) -> ListPublisher<O> {
        switch source {
        case .publisher(let publisher):
            made = nil
            return publisher
        case .terms(let terms, let stack):
            if let made, made.publisher.cs_dataStack() === stack, made.terms.asksTheSame(terms) {
                return made.publisher
            }
            let publisher = stack.publish(terms) as ListPublisher<O>
            made = (terms, publisher)
            return publisher
        }
    }
}
