import ObjectGraph
import Synchronization
import Testing

/// The guide's chapter on logging and errors.
@MainActor @Suite(.serialized) struct LoggingTests {
    /// Keeps the messages that this suite causes, and forwards all to the previous logger.
    final class MyLogger: CoreStoreLogger {
        private let next: any CoreStoreLogger
        private let lines = Mutex<[String]>([])

        init(_ next: any CoreStoreLogger) { self.next = next }

        /// The lines that contain a word.
        func lines(with word: String) -> [String] {
            lines.withLock { lines in lines.filter { $0.contains(word) } }
        }

        func log(
            level: LogLevel, message: String, fileName: StaticString, lineNumber: Int,
            functionName: StaticString
        ) {
            lines.withLock { $0.append("\(level): \(message)") }
        }

        func log(
            error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
            functionName: StaticString
        ) {
            lines.withLock { $0.append("error: \(message) \(error)") }
        }

        func assert(
            _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String,
            fileName: StaticString, lineNumber: Int, functionName: StaticString
        ) {
            next.assert(
                condition(), message: message(), fileName: fileName, lineNumber: lineNumber,
                functionName: functionName)
        }
    }

    private func logging(_ body: () throws -> Void) rethrows -> MyLogger {
        let before = CoreStoreDefaults.logger
        let logger = MyLogger(before)
        CoreStoreDefaults.logger = logger
        defer { CoreStoreDefaults.logger = before }
        try body()
        return logger
    }

    @Test func `a failed fetch is logged once`() throws {
        let dataStack = try Harbour.dataStack()

        let logger = logging {
            #expect(throws: CoreStoreError.self) {
                try dataStack.fetchAll(From<Sailor>().orderBy(.ascending("heigth")))
            }
        }

        let lines = logger.lines(with: "heigth")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("error: ") == true)
    }

    @Test func `an error that ends a transaction is logged by the call that met it alone`() throws {
        let dataStack = try Harbour.dataStack()

        let logger = logging {
            #expect(throws: CoreStoreError.self) {
                try dataStack.perform(synchronous: { transaction in
                    _ = try transaction.fetchAll(From<Sailor>().orderBy(.ascending("heigth")))
                })
            }
            #expect(throws: CoreStoreError.self) {
                try dataStack.perform(synchronous: { transaction in
                    // The program fetches again after the failure.
                    _ = try? transaction.fetchOne(From<Sailor>().orderBy(.ascending("lenght")))
                    _ = try transaction.fetchAll(From<Sailor>().orderBy(.ascending("wieght")))
                })
            }
        }

        for name in ["heigth", "lenght", "wieght"] {
            #expect(logger.lines(with: name).count == 1, "\(name)")
        }
    }

    @Test func `each failure was logged twice, or not at all`() throws {
        let dataStack = try Harbour.dataStack()
        let url = try #require(URL(string: "http://a/trellis-no-file"))

        let logger = logging {
            #expect(throws: CoreStoreError.self) {
                try dataStack.fetchAll(From<Sailor>().where(format: "wieght >"))
            }
            #expect(throws: CoreStoreError.self) { try dataStack.backup(to: url) }
            for call in [{ try dataStack.checkpoint() }, { try dataStack.close() }] {
                #expect(throws: CoreStoreError.self) {
                    try dataStack.perform(synchronous: { _ in try call() })
                }
            }
            #expect(throws: CoreStoreError.self) {
                try dataStack.perform(synchronous: { _ in
                    _ = try? dataStack.vacuum()
                    try dataStack.perform(synchronous: { _ in })
                })
            }
        }

        for words in [
            "wieght >", "trellis-no-file", "checkpoint() was called", "close() was called",
            "vacuum() was called", "begun inside another",
        ] {
            #expect(logger.lines(with: words).count == 1, "\(words)")
        }
    }

    @Test func `errors of one kind with different messages are not equal`() throws {
        let dataStack = try Harbour.dataStack()
        func error(_ path: String) -> CoreStoreError? {
            #expect(throws: CoreStoreError.self) {
                try dataStack.addStorageAndWait(
                    LocalStore(fileURL: URL(fileURLWithPath: "/dev/null/\(path)")))
            }
        }
        let (first, same, other) = (error("a"), error("a"), error("b"))
        #expect(first?.storeError != nil)
        #expect(first == same)
        #expect(first != other)
        #expect(first?.hashValue == same?.hashValue)
    }

    @Test func `a second condition replaces the first with a warning`() throws {
        let dataStack = try Harbour.dataStack()

        let logger = try logging {
            let people = try dataStack.fetchAll(
                From<Sailor>().where(\.$age > 30).where(\.$age < 30))
            #expect(people.map(\.age) == [22])
        }

        #expect(logger.lines(with: "second Where").count >= 1)
    }

    @Test func `an error has a domain, a code and a cause`() throws {
        let dataStack = try Harbour.dataStack()

        let error = try #require(
            #expect(throws: CoreStoreError.self) {
                try dataStack.fetchAll(From<Sailor>().where(format: "age >"))
            })

        #expect(CoreStoreError.errorDomain == CoreStoreErrorDomain)
        #expect(error.errorCode == CoreStoreErrorCode.internalError.rawValue)
        guard case .internalError(let cause) = error else {
            Issue.record("\(error) is no internal error")
            return
        }
        #expect(!cause.localizedDescription.isEmpty)
        #expect(CoreStoreError(error as NSError) == error)
        #expect(CoreStoreError(nil) == .unknown)
    }

    @Test func `the program's own error comes back`() throws {
        struct Reef: Error {}
        let dataStack = try Harbour.dataStack()

        let error = #expect(throws: CoreStoreError.self) {
            try dataStack.perform(synchronous: { _ in throw Reef() })
        }

        guard case .userError(let own) = error else {
            Issue.record("\(String(describing: error)) is no error of the program's")
            return
        }
        #expect(own is Reef)
    }

    @Test func `clauses and chains print their parts`() throws {
        let dataStack = try Harbour.dataStack()
        let chain = From<Sailor>()
            .where(\.$age > 30 && \.$gender == "M").orderBy(.descending(\.$name))

        #expect(
            chain.debugDescription == """
                (FetchChainBuilder<Sailor>) (
                    .from = (
                        .entityClass = Sailor;
                        .configurations = nil
                    );
                    .fetchClauses = [
                        age > 30 AND gender == "M",
                        [
                            (name, descending)
                        ]
                    ]
                )
                """)
        #expect(dataStack.debugDescription.hasPrefix("(DataStack) (\n    .modelVersion = \"V1\";"))
        #expect(dataStack.debugDescription.contains(".storeType = \"InMemory\""))
        #expect(
            CoreStoreError.userCancelled.debugDescription
                == "(CoreStoreError) 7: the transaction was cancelled")
        #expect(Select<Sailor, Int>(.maximum(\.$age)).coreStoreDumpString.contains("max(age)"))
        #expect("\(Where<Sailor>(true))".contains("TRUEPREDICATE"))
        let ole = try #require(try dataStack.fetchOne(From<Sailor>().where(\.$name == "Ole")))
        #expect(ole.name == "Ole")
        #expect(ole.debugDescription.contains("    .name = \"Ole\";\n"))
    }

    @Test func `lists, publishers, snapshots and migrations print themselves`() throws {
        let dataStack = try Harbour.dataStack()
        let chain = From<Sailor>().sectionBy(\.$gender).orderBy(.ascending(\.$gender))
        let ole = try #require(try dataStack.fetchOne(From<Sailor>().where(\.$name == "Ole")))
        let uri = ole.objectID().uriRepresentation().absoluteString
        let sections = """
            (
                    .sectionIDs = [
                        "",
                        "F",
                        "M"
                    ];
                    .numberOfItems = 3
                )
            """

        #expect(
            dataStack.monitorSectionedList(chain).debugDescription == """
                (ListMonitor<Sailor>) (
                    .isPendingRefetch = false;
                    .numberOfSections = 3;
                    .numberOfObjects = 3
                )
                """)
        let publisher = dataStack.publishList(chain)
        #expect(
            publisher.debugDescription
                == "(ListPublisher<Sailor>) (\n    .snapshot = \(sections)\n)")
        #expect(publisher.snapshot.debugDescription.hasPrefix("(ListSnapshot<Sailor>) (\n"))
        let objectID = "(\n    .objectID = \(uri)\n)"
        #expect(
            dataStack.monitorObject(ole).debugDescription == "(ObjectMonitor<Sailor>) \(objectID)")
        #expect(
            ole.asPublisher(in: dataStack).debugDescription
                == "(ObjectPublisher<Sailor>) \(objectID)")
        let snapshot = try #require(ole.asSnapshot())
        #expect(
            snapshot.debugDescription.hasPrefix(
                "(ObjectSnapshot<Sailor>) (\n    .objectID = \(uri);\n    .age = 60;\n"))
        #expect(ole.partialObject().debugDescription.hasPrefix("(PartialObject<Sailor>) (\n"))
        #expect(chain.sectionBy.debugDescription == "(SectionBy<Sailor>) \"gender\"")
        #expect(
            MigrationType.lightweight(sourceVersion: "A", destinationVersion: "B")
                .debugDescription == "(MigrationType) .lightweight (\"A\" → \"B\")")
        #expect(
            LocalStorageOptions.allowDataLoss.debugDescription
                == "(LocalStorageOptions) [\n    allowDataLoss\n]")
    }
}
