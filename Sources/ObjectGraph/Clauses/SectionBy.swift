import Query

/// The property by whose value an observed list is divided into sections.
///
/// Neighbours with one value make a section, so that the list must be sorted by the property first.
/// The name of a section is the value as a text: empty for nil, "0" or "1" for a Bool, "5" for 5.0.
///
/// A property that only an object can answer, because it is virtual, coded or has a `customGetter`,
/// is given in the same way as a stored one. Of its values only changes of the object itself are
/// followed.
public struct SectionBy<O: DynamicObject>: Sendable {
    let rule: SectionRule

    init(_ rule: SectionRule) { self.rule = rule }

    /// Sections by a property, given by its name; the path may cross to-one relationships.
    public init(_ sectionKeyPath: KeyPathString) {
        self.init(SectionRule(sectionKeyPath, nil))
    }

    /// Sections by a property, given by its name.
    ///
    /// - Parameters:
    ///   - sectionKeyPath: the property's name; the path may cross to-one relationships.
    ///   - sectionIndexTransformer: makes a section's index title from its name.
    @preconcurrency
    public init(
        _ sectionKeyPath: KeyPathString,
        sectionIndexTransformer: @escaping @Sendable (_ sectionName: String?) -> String?
    ) {
        self.init(SectionRule(sectionKeyPath, sectionIndexTransformer))
    }
}

extension SectionBy where O: CoreStoreObject {
    /// A stored property.
    @preconcurrency
    public init<B: CoreStoreObject, V>(
        _ sectionKeyPath: KeyPath<O, FieldContainer<B>.Stored<V>>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) {
        self.init(SectionRule(Where<O>.name(sectionKeyPath), sectionIndexTransformer))
    }

    /// A computed property. Only changes of the object itself are followed.
    @preconcurrency
    public init<B: CoreStoreObject, V>(
        _ sectionKeyPath: KeyPath<O, FieldContainer<B>.Virtual<V>>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) {
        self.init(SectionRule(Where<O>.name(sectionKeyPath), sectionIndexTransformer))
    }

    /// A coded property.
    @preconcurrency
    public init<B: CoreStoreObject, V>(
        _ sectionKeyPath: KeyPath<O, FieldContainer<B>.Coded<V>>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) {
        self.init(SectionRule(Where<O>.name(sectionKeyPath), sectionIndexTransformer))
    }
}

/// How the sections of a list come about.
struct SectionRule: Sendable {
    /// The identity of a rule, as far as the sections go.
    enum Name: Hashable {
        case none
        /// A path that ends with a stored property.
        case stored(KeyPathString)
        /// A property whose value takes an object.
        case computed(KeyPathString)
    }

    static let none = SectionRule(name: .none, transformer: nil)

    let name: Name
    let transformer: (@Sendable (String?) -> String?)?

    private init(name: Name, transformer: (@Sendable (String?) -> String?)?) {
        self.name = name
        self.transformer = transformer
    }

    /// Which of the two kinds a path is depends on the class that it starts from: ``of(_:)``.
    init(_ keyPath: KeyPathString, _ transformer: (@Sendable (String?) -> String?)?) {
        self.init(name: .stored(keyPath), transformer: transformer)
    }

    var hasSections: Bool { name != .none }

    /// The rule for a list of a class's objects.
    func of(_ type: CoreStoreObject.Type) -> SectionRule {
        guard case .stored(let keyPath) = name,
            let property = SectionPath(keyPath, from: type).property, !property.isInRecord
        else { return self }
        return SectionRule(name: .computed(keyPath), transformer: transformer)
    }

    /// The name of the section of objects with a value.
    static func sectionName(of value: Any?) -> String {
        switch value.flatMap(FieldDeclaration.unwrapped) {
        case nil: ""
        case let flag as Bool: flag ? "1" : "0"
        case let text as String: text
        case let number as NSDecimalNumber: number.description
        case let number as Double: text(number)
        case let number as Float: text(number)
        case let number as CGFloat: text(Double(number))
        case let value?: String(describing: value)
        }
    }

    /// As `NSNumber` describes a number: a whole one without its fraction.
    private static func text<Number: BinaryFloatingPoint & CustomStringConvertible>(
        _ number: Number
    ) -> String {
        // 17 digits are as many as a number has without an exponent.
        guard number.magnitude < 1e17, let whole = Int64(exactly: number) else {
            return number.description
        }
        return number.sign == .minus && whole == 0 ? "-0" : whole.description
    }

    /// The section part of the request for a list of the objects' class.
    func section(
        of type: CoreStoreObject.Type, in stores: [AttachedStore], _ stack: DataStack
    ) -> ListRequest.Section {
        switch name {
        case .none: return .none
        case .stored(let keyPath):
            return .path(keyPath.split(separator: ".").map(String.init)) {
                Self.sectionName(of: ValueBridge.native($0))
            }
        case .computed(let keyPath):
            let sections = ComputedSections(type, keyPath, stores, stack.link)
            return .computed(sections.name, rest: sections.rest)
        }
    }
}
