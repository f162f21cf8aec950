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

        /// Views of the object's newest snapshot; none of a deleted object.
        ///
        /// - Parameters:
        ///   - objectPublisher: the publisher of the object.
        ///   - content: makes the views of a snapshot.
        public init(
            _ objectPublisher: ObjectPublisher<Object>?,
            @ViewBuilder content: @escaping (ObjectSnapshot<Object>) -> Content
        ) where Value == ObjectSnapshot<Object>, Placeholder == EmptyView {
            self.init(objectPublisher, content: content, placeholder: { EmptyView() })
        }

        /// Views of the object's newest snapshot, or a placeholder.
        ///
        /// - Parameters:
        ///   - objectPublisher: the publisher of the object.
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

        /// Views of one property of the object; none of a deleted object.
        ///
        /// - Parameters:
        ///   - objectPublisher: the publisher of the object.
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

        /// Views of one property of the object, or a placeholder.
        ///
        /// - Parameters:
        ///   - objectPublisher: the publisher of the object.
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
