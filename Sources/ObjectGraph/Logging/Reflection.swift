// Where the reflection of a program's values stops, for example in the message of a test that
// fails: behind these are locks, which cannot be reflected, and all that the stack has.

extension ObjectKind: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension StoreEntity: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension WeakLink: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension ObjectContext: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension SnapshotRow: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension ListedContent: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension ListFeed: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension DataStack: CustomReflectable {
    /// Nothing: the stack's content is no part of its description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
