import ObjectGraph
import Testing

/// Imports that create related objects in the same pass.
@Suite struct RelatedImportTests {
    private let guild: Guild

    init() throws { guild = try Guild() }

    @Test func `sources nested in a source make the objects that it leads to`() throws {
        try guild.take([
            [
                "code": "a", "name": "Ann", "master": ["code": "m", "name": "Max"],
                "badges": [["number": 1, "text": "one"], ["number": 2, "text": "two"]],
                "notes": [["text": "first"], ["other": 0], ["text": "second"]],
            ]
        ])
        #expect(
            try guild.lines() == [
                #"1 “one”"#, #"2 “two”"#,
                #"a “Ann” of m, pupils [], friends [], badges [1, 2], notes ["first", "second"]"#,
                #"m “Max” of none, pupils ["a"], friends [], badges [], notes []"#,
                #"note “first”"#, #"note “second”"#,
            ])
    }

    @Test func `an ID may name a later source's object or the source itself`() throws {
        let count = try guild.take([
            ["code": "a", "master": "c", "friends": ["b", "c", "a"]],
            ["code": "b", "master": "a"],
            ["code": "c", "master": "b"],
        ])
        #expect(count == 3)
        #expect(
            try guild.lines() == [
                #"a “” of c, pupils ["b"], friends ["b", "c", "a"], badges [], notes []"#,
                #"b “” of a, pupils ["c"], friends [], badges [], notes []"#,
                #"c “” of b, pupils ["a"], friends [], badges [], notes []"#,
            ])
    }

    @Test(arguments: [1, 2, 10_000])
    func `imports of several classes resolve their links together`(batchCount: Int) throws {
        try guild.change { transaction in
            transaction.importBatchCount = batchCount
            try transaction.importRelatedObjects {
                try transaction.importUniqueObjects(
                    Into<Fellow>(),
                    sourceArray: [
                        ["code": "a", "badges": [2, 1]], ["code": "b", "badges": 2, "master": "a"],
                    ])
                try transaction.importUniqueObjects(
                    Into<Badge>(),
                    sourceArray: [["number": 1, "text": "one"], ["number": 2, "text": "two"]])
            }
        }
        #expect(
            try guild.lines() == [
                #"1 “one”"#, #"2 “two”"#,
                #"a “” of none, pupils ["b"], friends [], badges [1, 2], notes []"#,
                #"b “” of a, pupils [], friends [], badges [2], notes []"#,
            ])
    }

    @Test func `a later source replaces a link that waits for its target`() throws {
        try guild.take([["code": "b"]])
        try guild.change { transaction in
            try transaction.importRelatedObjects {
                for source in [
                    ["code": "a", "master": "z"], ["code": "a", "master": "b"], ["code": "z"],
                ] {
                    try transaction.importUniqueObjects(Into<Fellow>(), sourceArray: [source])
                }
            }
        }
        #expect(
            try guild.lines() == [
                #"a “” of b, pupils [], friends [], badges [], notes []"#,
                #"b “” of none, pupils ["a"], friends [], badges [], notes []"#,
                #"z “” of none, pupils [], friends [], badges [], notes []"#,
            ])
    }

    @Test func `an ID that no object has fails the import`() throws {
        let error = #expect(throws: CoreStoreError.self) {
            try guild.take([["code": "a", "master": "nobody"]])
        }
        #expect(error?.storeError?.code == .notFound)
        #expect(error?.description.contains("nobody") == true)
        #expect(try guild.lines().isEmpty)
    }

    @Test func `a link whose key is missing stays, and null clears it`() throws {
        try guild.take([["code": "a", "master": ["code": "m"], "friends": [["code": "m"]]]])
        try guild.take([["code": "a", "name": "Ann", "master": NSNull()]])
        #expect(
            try guild.lines() == [
                #"a “Ann” of none, pupils [], friends ["m"], badges [], notes []"#,
                #"m “” of none, pupils [], friends [], badges [], notes []"#,
            ])
    }

    @Test func `sources nested in one that is left out are left out too`() throws {
        try guild.take([
            ["code": "a", "isKnown": true, "master": ["code": "m"], "notes": [["text": "x"]]],
            ["name": "without a code", "master": ["code": "n"]],
        ])
        #expect(try guild.lines().isEmpty)
    }

    @Test func `a nested source that may not change its object still links to it`() throws {
        try guild.take([["code": "m", "name": "Max"]])
        try guild.take([
            ["code": "a", "master": ["code": "m", "name": "other", "isNew": true]],
            ["code": "b", "master": ["code": "n", "isKnown": true]],
        ])
        #expect(
            try guild.lines() == [
                #"a “” of m, pupils [], friends [], badges [], notes []"#,
                #"b “” of none, pupils [], friends [], badges [], notes []"#,
                #"m “Max” of none, pupils ["a"], friends [], badges [], notes []"#,
            ])
    }

    @Test func `sources of one ID are imported one after the other`() throws {
        let count = try guild.take([
            ["code": "a", "name": "first", "notes": [["text": "one"]]],
            ["code": "b", "master": ["code": "a", "name": "second"]],
            ["code": "a", "name": "third", "friends": ["b"]],
        ])
        #expect(count == 2)
        #expect(
            try guild.lines() == [
                #"a “third” of none, pupils ["b"], friends ["b"], badges [], notes ["one"]"#,
                #"b “” of a, pupils [], friends [], badges [], notes []"#, #"note “one”"#,
            ])
    }

    @Test func `IDs are compared by their bytes`() throws {
        try guild.take([
            ["code": "\u{E9}", "name": "one", "friends": ["e\u{301}"]],
            ["code": "e\u{301}", "name": "two", "master": "\u{E9}"],
        ])
        let lines = try guild.lines()
        #expect(lines.count == 2)
        #expect(Array(lines[0].utf8).starts(with: "e\u{301} “two” of \u{E9},".utf8))
        #expect(Array(lines[1].utf8).starts(with: "\u{E9} “one” of none".utf8))
    }

    @Test(
        arguments: [
            ["code": "a", "master": ["b", "c"]], ["code": "a", "master": 7],
            ["code": "a", "notes": "text"], ["code": "a", "badges": ["x"]],
            ["code": "a", "badges": true],
        ] as [[String: any Sendable]])
    func `a value that names no target is an error`(source: [String: any Sendable]) throws {
        #expect(throws: CoreStoreError.self) {
            try guild.take([source, ["code": "b"], ["code": "c"]])
        }
        #expect(try guild.lines().isEmpty)
    }

    @Test func `a source that its class declines may name what is no target`() throws {
        let count = try guild.take([
            ["code": "a"], ["code": "b", "isKnown": 1, "master": 7],
            ["code": "c", "isKnown": 1, "badges": [["number": 1], "x"]],
            ["code": "a", "isNew": 1, "notes": "text"],
        ])
        #expect(count == 1)
        #expect(
            try guild.lines() == [
                #"a “” of none, pupils [], friends [], badges [], notes []"#
            ])
    }

    @Test func `a flag of JSON is no ID of a number`() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("import-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        try guild.take([["code": "a", "badges": [["number": 1, "text": "one"]]]])
        for (value, isID) in [("true", false), ("false", false), ("[true]", false), ("1", true)] {
            try Data(#"{"code": "b", "badges": \#(value)}"#.utf8).write(to: url)
            var isImported = false
            try? guild.change { transaction in
                _ = try transaction.importUniqueObjects(
                    Into<Fellow>(), file: url, format: .jsonLines)
                isImported = true
            }
            #expect(isImported == isID, "\(value)")
        }
    }

    @Test func `a source that contains itself without end is an error`() throws {
        var source: [String: Any] = ["code": "0"]
        for number in 1...300 { source = ["code": "\(number)", "master": source] }
        #expect(throws: CoreStoreError.self) { try guild.take([source]) }
        var flat: [String: Any] = ["code": "0"]
        for number in 1...200 { flat = ["code": "\(number)", "master": flat] }
        try guild.take([flat])
        #expect(try guild.lines().count == 201)
    }

    @Test func `an error of the class ends the pass, and the next one is another`() throws {
        let count = try guild.change { transaction in
            let error = #expect(throws: CoreStoreError.self) {
                try transaction.importRelatedObjects {
                    try transaction.importUniqueObjects(
                        Into<Fellow>(),
                        sourceArray: [
                            ["code": "a", "master": "later"],
                            ["code": "b", "master": ["code": "c", "isRefused": true]],
                        ])
                }
            }
            guard case .userError(is Fellow.Refusal) = error else {
                Issue.record("\(String(describing: error))")
                return 0
            }
            return try transaction.importUniqueObjects(
                Into<Fellow>(), sourceArray: [["code": "d", "master": "a"]]
            ).count
        }
        #expect(count == 1)
        // Objects imported before the error stay, as the guide says; their links are not set.
        #expect(
            try guild.lines() == [
                #"a “” of none, pupils ["d"], friends [], badges [], notes []"#,
                #"b “” of none, pupils [], friends [], badges [], notes []"#,
                #"c “” of none, pupils [], friends [], badges [], notes []"#,
                #"d “” of a, pupils [], friends [], badges [], notes []"#,
            ])
    }

    @Test func `a source fills a given object, and its relationships`() throws {
        try guild.change { transaction in
            let member = transaction.create(Into<Fellow>())
            member.code = "a"
            try transaction.importObject(
                member, source: ["name": "Ann", "badges": [["number": 1]]])
            try transaction.importUniqueObject(
                Into<Fellow>(), source: ["code": "b", "master": "a", "badges": 1])
        }
        #expect(
            try guild.lines() == [
                #"1 “”"#, #"a “Ann” of none, pupils ["b"], friends [], badges [1], notes []"#,
                #"b “” of a, pupils [], friends [], badges [1], notes []"#,
            ])
    }

    @Test func `an unsafe transaction imports related objects`() throws {
        let transaction = guild.stack.beginUnsafe()
        try transaction.importUniqueObjects(
            Into<Fellow>(),
            sourceArray: [
                ["code": "a", "master": "b", "notes": [["text": "x"]]], ["code": "b"],
            ],
            preProcess: { $0.filter { $0.key != "c" } })
        try transaction.commitAndWait()
        #expect(
            try guild.lines() == [
                #"a “” of b, pupils [], friends [], badges [], notes ["x"]"#,
                #"b “” of none, pupils ["a"], friends [], badges [], notes []"#, #"note “x”"#,
            ])
    }
}
