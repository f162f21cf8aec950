#if canImport(SwiftUI)
    import SwiftUI

    /// A view's property with an object's newest snapshot: the view is drawn again when the object
    /// changes.
    ///
    /// ```swift
    /// @ObjectState
    /// var person: ObjectSnapshot<Person>?
    ///
    /// init(_ publisher: ObjectPublisher<Person>) { _person = .init(publisher) }
    /// ```
    ///
    /// `person` is nil when the object was deleted; `$person` is its publisher. The stack's view
    /// must live on the main queue.
    @propertyWrapper
    @MainActor
    public struct ObjectState<O: DynamicObject>: DynamicProperty {
        /// The publisher of the object; nil where there is none.
        public let projectedValue: ObjectPublisher<O>?

        /// Shows the object of a publisher; nothing where that is nil.
        public init(_ objectPublisher: ObjectPublisher<O>?) { projectedValue = objectPublisher }

        /// The object's newest values; nil when it was deleted.
        public var wrappedValue: ObjectSnapshot<O>? { projectedValue?.snapshot }
    }
#endif
