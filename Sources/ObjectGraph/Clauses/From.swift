/// The source of a fetch: a class, in all stores that have it or in those of some configurations.
///
/// Objects of subclasses are found too. `From` is a value: keep it in a `static let` and fetch with
/// it from any thread.
public struct From<O: DynamicObject>: Sendable {
    /// The class.
    public let entityClass: O.Type
    /// The configurations whose stores are searched; nil for all.
    public let configurations: [ModelConfiguration]?

    /// Every object of the class, inferred from the context, and of the classes below it, in all
    /// attached stores that have it.
    public init() { self.init(entity: O.self, configurations: nil) }
    /// Every object of the class and of the classes below it, in all attached stores that have it.
    public init(_ entity: O.Type) { self.init(entity: entity, configurations: nil) }

    /// Only the stores of these configurations; nil is the default one.
    public init(_ configuration: ModelConfiguration, _ others: ModelConfiguration...) {
        self.init(entity: O.self, configurations: [configuration] + others)
    }

    /// Only the stores of these configurations; a nil element is the default one, an empty list
    /// finds no store, so that the fetch throws `.persistentStoreNotFound`.
    public init(_ configurations: [ModelConfiguration]) {
        self.init(entity: O.self, configurations: configurations)
    }

    /// Only the stores of these configurations; nil is the default one.
    public init(
        _ entity: O.Type, _ configuration: ModelConfiguration, _ others: ModelConfiguration...
    ) {
        self.init(entity: entity, configurations: [configuration] + others)
    }

    /// Only the stores of these configurations; a nil element is the default one.
    public init(_ entity: O.Type, _ configurations: [ModelConfiguration]) {
        self.init(entity: entity, configurations: configurations)
    }

    private init(entity: O.Type, configurations: [ModelConfiguration]?) {
        entityClass = entity
        self.configurations = configurations
    }
}

/// Where an object is created: an entity, in the one store that has it or in that of a
/// configuration.
public struct Into<O: DynamicObject>: Hashable, Sendable {
    /// The class.
    public let entityClass: O.Type
    /// The configuration; nil is the default one.
    public let configuration: ModelConfiguration
    let infersStore: Bool

    /// The one attached store that has the class, inferred from the context.
    /// ``BaseDataTransaction/create(_:)`` stops the program when several stores have it, or none.
    public init() { self.init(entity: O.self, configuration: nil, infersStore: true) }
    /// The one attached store that has the class. ``BaseDataTransaction/create(_:)`` stops the
    /// program when several stores have it, or none.
    public init(_ entity: O.Type) {
        self.init(entity: entity, configuration: nil, infersStore: true)
    }
    /// The store that was attached under a configuration; nil is the default one.
    public init(_ configuration: ModelConfiguration) {
        self.init(entity: O.self, configuration: configuration, infersStore: false)
    }
    /// The store that was attached under a configuration; nil is the default one.
    public init(_ entity: O.Type, _ configuration: ModelConfiguration) {
        self.init(entity: entity, configuration: configuration, infersStore: false)
    }

    private init(entity: O.Type, configuration: ModelConfiguration, infersStore: Bool) {
        entityClass = entity
        self.configuration = configuration
        self.infersStore = infersStore
    }

    public static func == (left: Into, right: Into) -> Bool {
        left.entityClass == right.entityClass && left.configuration == right.configuration
            && left.infersStore == right.infersStore
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(entityClass))
        hasher.combine(configuration)
        hasher.combine(infersStore)
    }
}

extension Into {
    /// Whether two name the same class and configuration.
    public static func == <D: DynamicObject>(left: Into, right: Into<D>) -> Bool {
        ObjectIdentifier(left.entityClass) == ObjectIdentifier(right.entityClass)
            && left.configuration == right.configuration && left.infersStore == right.infersStore
    }
}
