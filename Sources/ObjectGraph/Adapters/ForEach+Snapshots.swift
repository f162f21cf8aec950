#if canImport(SwiftUI)
    import SwiftUI

    extension ObjectRepresentation {
        /// The identity of an object's view.
        var viewID: NSManagedObjectID { objectID() }
    }

    extension ForEach where Content: View {
        /// Makes a view for each snapshot of a collection. Each object is in it once.
        public init<O: DynamicObject>(
            _ objectSnapshots: Data,
            @ViewBuilder content: @escaping (ObjectSnapshot<O>) -> Content
        ) where Data.Element == ObjectSnapshot<O>, ID == NSManagedObjectID {
            self.init(objectSnapshots, id: \.viewID, content: content)
        }

        /// Makes a view for each object of a list. Publishers are made for the elements that
        /// SwiftUI asks for.
        public init<O: DynamicObject>(
            objectIn listSnapshot: Data,
            @ViewBuilder content: @escaping (ObjectPublisher<O>) -> Content
        ) where Data == ListSnapshot<O>, ID == NSManagedObjectID {
            self.init(listSnapshot, id: \.viewID, content: content)
        }

        /// Makes a view for each publisher of a collection. Each object is in it once.
        public init<O: DynamicObject>(
            objectIn objectPublishers: Data,
            @ViewBuilder content: @escaping (ObjectPublisher<O>) -> Content
        ) where Data.Element == ObjectPublisher<O>, ID == NSManagedObjectID {
            self.init(objectPublishers, id: \.viewID, content: content)
        }

        /// Makes a view for each object of a section.
        public init<O: DynamicObject>(
            objectIn sectionInfo: Data,
            @ViewBuilder content: @escaping (ObjectPublisher<O>) -> Content
        ) where Data == ListSnapshot<O>.SectionInfo, ID == NSManagedObjectID {
            self.init(sectionInfo, id: \.viewID, content: content)
        }

        /// Makes a view for each section of a list.
        public init<O: DynamicObject>(
            sectionIn listSnapshot: ListSnapshot<O>,
            @ViewBuilder content: @escaping (ListSnapshot<O>.SectionInfo) -> Content
        ) where Data == [ListSnapshot<O>.SectionInfo], ID == ListSnapshot<O>.SectionID {
            self.init(listSnapshot.sections(), id: \.sectionID, content: content)
        }
    }
#endif
