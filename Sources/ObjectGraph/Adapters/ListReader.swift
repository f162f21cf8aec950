#if canImport(SwiftUI)
    import SwiftUI

    /// Makes views of a list's newest snapshot, again after each change.
    ///
    /// ```swift
    /// ListReader(people) { snapshot in
    ///     ForEach(objectIn: snapshot) { person in Text(person.$name ?? "") }
    /// }
    /// ```
    public struct ListReader<Object: DynamicObject, Content: View, Value>: View {
        private let listPublisher: ListPublisher<Object>
        private let value: (ListSnapshot<Object>) -> Value
        private let content: (Value) -> Content

        /// Views of the list's newest snapshot.
        ///
        /// - Parameters:
        ///   - listPublisher: the publisher of the list.
        ///   - content: makes the views of a snapshot.
        public init(
            _ listPublisher: ListPublisher<Object>,
            @ViewBuilder content: @escaping (ListSnapshot<Object>) -> Content
        ) where Value == ListSnapshot<Object> {
            self.listPublisher = listPublisher
            value = { $0 }
            self.content = content
        }

        /// Views of a part of the list's newest snapshot.
        ///
        /// - Parameters:
        ///   - listPublisher: the publisher of the list.
        ///   - keyPath: the part of a snapshot that the views need.
        ///   - content: makes the views of that part.
        public init(
            _ listPublisher: ListPublisher<Object>,
            keyPath: KeyPath<ListSnapshot<Object>, Value>,
            @ViewBuilder content: @escaping (Value) -> Content
        ) {
            self.listPublisher = listPublisher
            value = { $0[keyPath: keyPath] }
            self.content = content
        }

        public var body: some View { content(value(listPublisher.snapshot)) }
    }
#endif
