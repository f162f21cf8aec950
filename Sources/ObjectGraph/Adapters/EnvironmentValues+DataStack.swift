#if canImport(SwiftUI)
    import SwiftUI

    private struct DataStackKey: EnvironmentKey {
        static var defaultValue: DataStack { CoreStoreDefaults.dataStack }
    }

    extension EnvironmentValues {
        /// The stack of a view and its subviews: `@Environment(\.dataStack) var stack`. The
        /// program's default stack where no view above has set another.
        public var dataStack: DataStack {
            get { self[DataStackKey.self] }
            set { self[DataStackKey.self] = newValue }
        }
    }
#endif
