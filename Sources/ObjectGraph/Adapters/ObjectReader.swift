#if canImport(SwiftUI)
    import SwiftUI

    /// Makes views of an object's newest snapshot, again after each change.
    ///
    /// ```swift
    /// ObjectReader(person) { snapshot in Text(snapshot.$name) }
    /// ```
    ///
    /// It makes no view of an object that was deleted, or the placeholder's where there is one.
    public struct ObjectReader<
        Object: DynamicObject, Content: View, Placeholder: View, Value
    >: View {
        private let objectPublisher: ObjectPublisher<Object>?
        private let value: (ObjectSnapshot<Object>) -> Value
        private let content: (Value) -> Content
        private let placeholder: () -> Placeholder

        /// - Parameter content: makes the views of a snapshot.
        public init(
            _ objectPublisher: ObjectPublisher<Object>?,
            @ViewBuilder content: @escaping (ObjectSnapshot<Object>) -> Content
        ) where Value == ObjectSnapshot<Object>, Placeholder == EmptyView {
            self.init(objectPublisher, content: content, placeholder: { EmptyView() })
        }

        /// - Parameters:
        ///   - content: makes the views of a snapshot.
        ///   - placeholder: makes the views of an object that was deleted, and of nil.
        public init(
            _ objectPublisher: ObjectPublisher<Object>?,
            @ViewBuilder content: @escaping (ObjectSnapshot<Object>) -> Content,
            @ViewBuilder placeholder: @escaping () -> Placeholder
        ) where Value == ObjectSnapshot<Object> {
            self.objectPublisher = objectPublisher
            value = { $0 }
            self.content = content
            self.placeholder = placeholder
        }

        /// - Parameters:
        ///   - keyPath: the property that the views need: `\.$name`.
        ///   - content: makes the views of its value.
        public init(
            _ objectPublisher: ObjectPublisher<Object>?,
            keyPath: KeyPath<ObjectSnapshot<Object>, Value>,
            @ViewBuilder content: @escaping (Value) -> Content
        ) where Placeholder == EmptyView {
            self.init(
                objectPublisher, keyPath: keyPath, content: content, placeholder: { EmptyView() })
        }

        /// - Parameters:
        ///   - keyPath: the property that the views need: `\.$name`.
        ///   - content: makes the views of its value.
        ///   - placeholder: makes the views of an object that was deleted, and of nil.
        public init(
            _ objectPublisher: ObjectPublisher<Object>?,
            keyPath: KeyPath<ObjectSnapshot<Object>, Value>,
            @ViewBuilder content: @escaping (Value) -> Content,
            @ViewBuilder placeholder: @escaping () -> Placeholder
        ) {
            self.objectPublisher = objectPublisher
            value = { $0[keyPath: keyPath] }
            self.content = content
            self.placeholder = placeholder
        }

        public var body: some View {
            if let snapshot = objectPublisher?.snapshot {
                content(value(snapshot))
            } else {
                placeholder()
            }
        }
    }
#endif
