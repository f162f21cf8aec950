// Imports for code that knows a class by its protocol alone. Where it is known to be a
// CoreStoreObject, the compiler takes the imports of the other files, which these call.

/// Goes on with a class as what it is: every dynamic object's class is a CoreStoreObject's.
private enum StoredClass {
    static func plain<O: ImportableObject>(
        _ type: O.Type
    ) -> any (CoreStoreObject & ImportableObject).Type {
        guard let stored = type as? any (CoreStoreObject & ImportableObject).Type else {
            Log.abort("\(type) is no class of stored objects")
        }
        return stored
    }

    static func unique<O: ImportableUniqueObject>(
        _ type: O.Type
    ) -> any (CoreStoreObject & ImportableUniqueObject).Type {
        guard let stored = type as? any (CoreStoreObject & ImportableUniqueObject).Type else {
            Log.abort("\(type) is no class of stored objects")
        }
        return stored
    }

    /// A value of one class as that of the other, which is the same one.
    static func same<From, To>(_ value: From, as type: To.Type = To.self) -> To {
        guard let same = value as? To else {
            Log.abort("a \(From.self) is no \(To.self), though both name the same class")
        }
        return same
    }
}

extension Into {
    fileprivate func of<P: DynamicObject>(_ type: P.Type) -> Into<P> {
        infersStore ? Into<P>() : Into<P>(configuration)
    }
}

extension BaseDataTransaction {
    /// ``importObject(_:source:)`` for code that knows the class by its protocol.
    ///
    /// - Throws: the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``.
    @discardableResult
    public func importObject<O: ImportableObject>(
        _ into: Into<O>, source: O.ImportSource
    ) throws(CoreStoreError) -> O? {
        func run<P: CoreStoreObject & ImportableObject>(
            _ type: P.Type
        ) throws(CoreStoreError) -> O? {
            try importObject(into.of(type), source: StoredClass.same(source))
                .map { StoredClass.same($0) }
        }
        return try run(StoredClass.plain(O.self))
    }

    /// ``importObject(_:source:)`` for code that knows the class by its protocol.
    ///
    /// - Throws: the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``.
    public func importObject<O: ImportableObject>(
        _ object: O, source: O.ImportSource
    ) throws(CoreStoreError) {
        func run<P: CoreStoreObject & ImportableObject>(_ type: P.Type) throws(CoreStoreError) {
            try importObject(
                StoredClass.same(object, as: P.self), source: StoredClass.same(source))
        }
        try run(StoredClass.plain(O.self))
    }

    /// ``importObjects(_:sourceArray:)`` for code that knows the class by its protocol.
    ///
    /// - Throws: the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``.
    @discardableResult
    public func importObjects<O: ImportableObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S
    ) throws(CoreStoreError) -> [O] where S.Element == O.ImportSource {
        func run<P: CoreStoreObject & ImportableObject>(
            _ type: P.Type
        ) throws(CoreStoreError) -> [O] {
            let sources = sourceArray.lazy.map { StoredClass.same($0, as: P.ImportSource.self) }
            return try importObjects(into.of(type), sourceArray: sources)
                .map { StoredClass.same($0) }
        }
        return try run(StoredClass.plain(O.self))
    }

    /// ``importUniqueObject(_:source:)`` for code that knows the class by its protocol.
    ///
    /// - Throws: the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``.
    @discardableResult
    public func importUniqueObject<O: ImportableUniqueObject>(
        _ into: Into<O>, source: O.ImportSource
    ) throws(CoreStoreError) -> O? {
        func run<P: CoreStoreObject & ImportableUniqueObject>(
            _ type: P.Type
        ) throws(CoreStoreError) -> O? {
            try importUniqueObject(into.of(type), source: StoredClass.same(source))
                .map { StoredClass.same($0) }
        }
        return try run(StoredClass.unique(O.self))
    }

    /// ``importUniqueObjects(_:sourceArray:)`` for code that knows the class by its protocol.
    ///
    /// - Throws: the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``.
    @discardableResult
    public func importUniqueObjects<O: ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S
    ) throws(CoreStoreError) -> [O] where S.Element == O.ImportSource {
        func run<P: CoreStoreObject & ImportableUniqueObject>(
            _ type: P.Type
        ) throws(CoreStoreError) -> [O] {
            let sources = sourceArray.lazy.map { StoredClass.same($0, as: P.ImportSource.self) }
            return try importUniqueObjects(into.of(type), sourceArray: sources)
                .map { StoredClass.same($0) }
        }
        return try run(StoredClass.unique(O.self))
    }

    /// ``importUniqueObjects(_:sourceArray:preProcess:)`` for code that knows the class by its
    /// protocol.
    ///
    /// - Throws: the error of the class or of `preProcess`, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``.
    @discardableResult
    public func importUniqueObjects<O: ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S,
        preProcess: (_ mapping: [O.UniqueIDType: O.ImportSource]) throws -> [O.UniqueIDType: O
            .ImportSource]
    ) throws(CoreStoreError) -> [O] where S.Element == O.ImportSource {
        func run<P: CoreStoreObject & ImportableUniqueObject>(
            _ type: P.Type
        ) throws(CoreStoreError) -> [O] {
            let sources = sourceArray.lazy.map { StoredClass.same($0, as: P.ImportSource.self) }
            return try importUniqueObjects(
                into.of(type), sourceArray: sources,
                preProcess: { mapping in
                    StoredClass.same(try preProcess(StoredClass.same(mapping)))
                }
            ).map { StoredClass.same($0) }
        }
        return try run(StoredClass.unique(O.self))
    }

    /// Imports a part of the sources of a file, one after the other, and returns how many the class
    /// accepts.
    func importPart<O: ImportableUniqueObject>(
        _ into: Into<O>, _ part: [O.ImportSource]
    ) throws(CoreStoreError) -> Int {
        func run<P: CoreStoreObject & ImportableUniqueObject>(
            _ type: P.Type
        ) throws(CoreStoreError) -> Int {
            let sources = part.map { StoredClass.same($0, as: P.ImportSource.self) }
            return try importOneByOne(into.of(type), sources)
        }
        return try run(StoredClass.unique(O.self))
    }
}
