import Foundation
import RecordStore

/// A request prepared once for one store: its names are resolved, its condition is checked and
/// compiled, and its access is chosen. Fetches, counts and aggregates run it, and ``explanation``
/// describes it.
package struct PreparedQuery {
    package enum Purpose {
        case records
        /// Order, limit and offset do not affect the choice of a plan.
        case count
    }

    package let entity: EntityLayout
    package let reader: RecordReader
    let includesSubentities: Bool
    let limit: Int?
    let offset: Int
    let access: AccessPlan
    let order: [ResolvedSortKey]
    /// Whether the access visits the records in `order`.
    let isInOrder: Bool
    /// Nil if the access finds only records that match, except for their entity.
    let candidateFilter: CandidateFilter?

    private init(
        _ entity: EntityLayout, _ reader: RecordReader, _ request: FetchRequest,
        access: AccessPlan, order: [ResolvedSortKey], isInOrder: Bool,
        candidateFilter: CandidateFilter?
    ) {
        self.entity = entity
        self.reader = reader
        includesSubentities = request.includesSubentities
        limit = request.limit
        offset = request.offset
        self.access = access
        self.order = order
        self.isInOrder = isInOrder
        self.candidateFilter = candidateFilter
    }

    /// - Parameter store: the reader's store, for the objects that the condition names.
    // A function and not an initialiser: a throwing initialiser builds its value in a temporary and
    // copies it, which costs a lookup by key a tenth of its instructions.
    package static func prepare(
        _ request: FetchRequest, of entity: EntityLayout, in reader: RecordReader,
        store: StoreIdentity, for purpose: Purpose = .records
    ) throws(QueryError) -> PreparedQuery {
        if request.sortKeys.isEmpty || purpose == .count, request.limit != 0,
            let lookup = Planner.keyLookup(request.condition, of: entity, in: reader)
        {
            return PreparedQuery(
                entity, reader, request, access: lookup, order: [], isInOrder: true,
                candidateFilter: nil)
        }
        let paths = PathResolver(schema: reader.schema)
        var condition = ResolvedCondition.constant(true)
        if let stated = request.condition {
            condition = try ConditionResolver(entity, paths, store: store).resolve(stated)
        }
        let order = purpose == .count ? [] : try paths.order(request.sortKeys, of: entity)
        let candidateFilter = CandidateFilter(
            FilterProgram(condition), entity,
            includesSubentities: request.includesSubentities, reader.schema)
        let planner = Planner(entity, reader)
        let plan = plan(condition, candidateFilter.program, request, purpose, planner)
        let ordered = ordered(plan, order, entity, isLimited: request.limit != nil)
        return PreparedQuery(
            entity, reader, request, access: ordered ?? plan, order: order,
            isInOrder: order.isEmpty || ordered != nil, candidateFilter: candidateFilter)
    }

    private static func plan(
        _ condition: ResolvedCondition, _ program: FilterProgram, _ request: FetchRequest,
        _ purpose: Purpose, _ planner: Planner
    ) -> AccessPlan {
        // The resolver has rejected an invalid request already, even if no record is wanted.
        if program.acceptsNone || request.limit == 0 { return .none }
        if purpose == .count, program.acceptsAll { return .counter }
        return planner.plan(condition)
    }

    /// A plan that visits the records in the request's order, so that nothing is sorted and a limit
    /// ends early: the entries of an index on the only sort key are ordered by it and then by
    /// number, like results. Texts are excluded, because long ones are truncated in their keys.
    private static func ordered(
        _ plan: AccessPlan, _ order: [ResolvedSortKey], _ entity: EntityLayout, isLimited: Bool
    ) -> AccessPlan? {
        guard order.count == 1, let key = order.first, key.isAscending,
            let field = key.path.ownField, !field.isVariable,
            let index = entity.indexes.first(where: { index in
                index.columns.count == 1 && index.columns[0].slot == field.slot
            })
        else { return nil }
        switch plan {
        case .index(let used, _) where used.id == index.id: return plan
        case .scan where isLimited: return .index(index, [.all])
        default: return nil
        }
    }

    /// The plan, for display.
    package var explanation: String {
        var text = "\(entity.name): \(access.description)"
        if case .none = access { return text }
        if !order.isEmpty { text += isInOrder ? ", in the order asked for" : ", then a sort" }
        return text
    }
}

/// A class, because a path is large and the key of each record is made of these.
final class ResolvedSortKey {
    let path: ResolvedPath
    /// The column of the record itself that the path names.
    let ownColumn: KeyColumn?
    let isAscending: Bool

    init(path: ResolvedPath, isAscending: Bool) {
        self.path = path
        ownColumn = path.ownField.map { KeyColumn($0) }
        self.isAscending = isAscending
    }
}

extension PathResolver {
    /// Throws for a path with several values.
    func order(
        _ keys: [SortKey], of entity: EntityLayout
    ) throws(QueryError) -> [ResolvedSortKey] {
        var order: [ResolvedSortKey] = []
        for key in keys {
            let path = try single(key.path, from: entity, else: "nothing can be sorted by it")
            order.append(ResolvedSortKey(path: path, isAscending: key.isAscending))
        }
        return order
    }

    /// A path with one value for each object.
    ///
    /// - Parameter consequence: what follows from several.
    func single(
        _ names: [String], from entity: EntityLayout, else consequence: String
    ) throws(QueryError) -> ResolvedPath {
        let path = try resolve(names, from: entity)
        guard path.isSingle else {
            throw QueryError(
                "“\(names.joined(separator: "."))” has several values for one object, so "
                    + consequence)
        }
        return path
    }
}

/// The test of a candidate: its entity and the whole condition.
final class CandidateFilter {
    let program: FilterProgram
    let tags: Set<UInt16>
    /// Whether all entities of the hierarchy are wanted.
    let isWhole: Bool

    init(
        _ program: FilterProgram, _ entity: EntityLayout, includesSubentities: Bool,
        _ schema: Schema
    ) {
        self.program = program
        tags = includesSubentities ? entity.tags : [entity.tag]
        isWhole = tags.count == schema.knownEntity(tag: entity.hierarchy.rootTag).tags.count
    }
}
