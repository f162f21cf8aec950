import Testing

@testable import ObjectGraph

/// How large the cache is by default.
@Suite struct CacheBudgetTests {
    private func budget(_ bytes: Int, _ files: [String: String] = [:]) -> CacheBudget {
        CacheBudget(MachineMemory(bytes: bytes) { files[$0] }.origin)
    }

    @Test(arguments: [
        (256 << 20, 64 << 20), (4 << 30, 512 << 20), (64 << 30, 1 << 30),
    ])
    func `the cache is an eighth of the memory, within bounds`(memory: Int, size: Int) {
        let budget = budget(memory)
        #expect(budget.sizeInBytes == size)
        #expect(budget.origin == .machine(bytes: memory))
    }

    @Test(arguments: [
        [
            "/sys/fs/cgroup/app/job/memory.max": "max\n",
            "/sys/fs/cgroup/app/memory.max": "1073741824",
        ],
        ["/sys/fs/cgroup/memory.max": "1073741824\n"],
        ["/sys/fs/cgroup/memory/app/memory.limit_in_bytes": "1073741824\n"],
    ])
    func `the smallest limit of a cgroup and its ancestors counts`(files: [String: String]) {
        var files = files
        files["/proc/self/cgroup"] = "5:cpu,memory:/app/job\n1:name=systemd:/x\n0::/app/job\n"
        let budget = budget(16 << 30, files)
        #expect(budget.origin == .controlGroup(bytes: 1 << 30))
        #expect(budget.sizeInBytes == 128 << 20)
    }

    @Test(arguments: ["max", "", "-1", "9223372036854771712", "no number"])
    func `without a cgroup limit the machine's memory counts`(text: String) {
        let files = [
            "/proc/self/cgroup": "0::/\n\n::\nbroken", "/sys/fs/cgroup/memory.max": text,
        ]
        #expect(budget(8 << 30, files).origin == .machine(bytes: 8 << 30))
    }

    @Test func `the statistics show the cache size and its origin`() throws {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
        let (url, other) = (Zoo.temporaryURL(), Zoo.temporaryURL())
        defer {
            for url in [url, other] { try? FileManager.default.removeItem(at: url) }
        }
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        #expect(stack.statistics.cacheBudgets == [CacheBudget.ofMachine])
        stack.unsafeRemoveAllPersistentStoresAndWait()
        var options = EngineOptions()
        options.cacheSizeInBytes = 32 << 20
        try stack.addStorageAndWait(LocalStore(fileURL: other, engineOptions: options))
        let budget = try #require(stack.statistics.cacheBudgets.first)
        #expect(budget.sizeInBytes == 32 << 20)
        #expect(budget.origin == .options)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test
    func `a stack that shares a file reported its own options, not the engine's`()
        throws
    {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stacks = [32 << 20, 96 << 20].map { size in
            var options = EngineOptions()
            options.cacheSizeInBytes = size
            let stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
            return (stack, LocalStore(fileURL: url, engineOptions: options))
        }
        for (stack, store) in stacks { try stack.addStorageAndWait(store) }
        for (stack, _) in stacks {
            #expect(stack.statistics.cacheBudgets.map(\.sizeInBytes) == [32 << 20])
        }
        // The next opening has options of its own.
        for (stack, _) in stacks { stack.unsafeRemoveAllPersistentStoresAndWait() }
        try stacks[1].0.addStorageAndWait(stacks[1].1)
        #expect(stacks[1].0.statistics.cacheBudgets.map(\.sizeInBytes) == [96 << 20])
        stacks[1].0.unsafeRemoveAllPersistentStoresAndWait()
    }
}
