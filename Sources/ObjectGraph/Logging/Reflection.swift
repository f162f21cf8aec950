/// Where the reflection of a program's values stops, for example in the message of a test that
/// fails: behind it are locks, which cannot be reflected, and all that the stack has.
protocol ReflectionEnd: CustomReflectable {}

extension ReflectionEnd {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension ListFeed: ReflectionEnd {}
extension ListedContent: ReflectionEnd {}
extension ObjectContext: ReflectionEnd {}
extension ObjectKind: ReflectionEnd {}
extension SnapshotRow: ReflectionEnd {}
extension StoreEntity: ReflectionEnd {}
extension WeakLink: ReflectionEnd {}

extension DataStack: CustomReflectable {
    /// Nothing: the stack's content is no part of its description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
