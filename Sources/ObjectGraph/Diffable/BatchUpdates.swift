#if canImport(UIKit) && !os(watchOS)
    import UIKit
#elseif canImport(AppKit)
    import AppKit
#endif

#if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
    /// One batch update of a view of the main actor, on its way from a data source that knows of no
    /// actor.
    struct BatchUpdates {
        private let work: UncheckedTransfer<(updates: () -> Void, completion: () -> Void)>
        private let animated: Bool

        init(
            _ updates: @escaping () -> Void, _ completion: @escaping () -> Void, _ animated: Bool
        ) {
            work = UncheckedTransfer((updates, completion))
            self.animated = animated
        }

        var updates: () -> Void { work.value.updates }
        var completion: () -> Void { work.value.completion }

        /// - Parameter perform: has the view do the updates at once. A view that is gone does them
        ///   without showing them, so that later versions of the list are shown.
        func run<View: AnyObject & Sendable>(
            on view: View?, _ perform: @MainActor (View, BatchUpdates) -> Void
        ) {
            guard let view else {
                updates()
                return completion()
            }
            MainActor.assumeIsolated {
                guard !animated else { return perform(view, self) }
                #if canImport(UIKit)
                    UIView.performWithoutAnimation { perform(view, self) }
                #else
                    NSAnimationContext.runAnimationGroup { context in
                        context.duration = 0
                        perform(view, self)
                    }
                #endif
            }
        }
    }

    extension DiffableDataSource.BaseAdapter {
        /// The object of a place; nil when it was deleted, and for a path that is outside.
        func object(at indexPath: IndexPath) -> O? {
            guard let id = itemID(for: indexPath) else { return nil }
            return dataStack?.fetchExisting(id)
        }
    }
#endif
