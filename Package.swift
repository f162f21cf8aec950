// swift-tools-version: 6.2
import PackageDescription

/// `scripts/test` builds with warnings as errors, in our targets and in no dependency's.
let warningSettings: [SwiftSetting] =
    Context.environment["TRELLIS_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// Every room names what it may import; the build refuses an import that is not named here
/// (`--explicit-target-dependency-import-check error`, see `scripts/test`).
let roomSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .strictMemorySafety(),
    ] + warningSettings

let testSettings: [SwiftSetting] = [.swiftLanguageMode(.v6)] + warningSettings

let package = Package(
    name: "Trellis",
    products: [
        .library(name: "Trellis", targets: ["ObjectGraph"]),
        .executable(name: "trellis", targets: ["trellis"]),
    ],
    dependencies: [
        // Only the command-line tool uses it; a program that links the library never builds it.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
    ],
    targets: [
        // The system's libraries: Debian's liblz4-dev and libxxhash-dev.
        .systemLibrary(
            name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .systemLibrary(
            name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        .target(name: "CFieldPlan"),
        .target(name: "CFileIdentity"),
        .systemLibrary(name: "CPrefetch"),

        // The rooms, in the order of the flow.
        .target(
            name: "PageStore", dependencies: ["CFileIdentity", "CLZ4", "CPrefetch", "CXXHash"],
            swiftSettings: roomSettings),
        .target(
            name: "RecordStore", dependencies: ["PageStore"], swiftSettings: roomSettings),
        .target(
            name: "Query", dependencies: ["RecordStore"], swiftSettings: roomSettings),
        .target(
            name: "ObjectGraph", dependencies: ["Query", "RecordStore", "CFieldPlan"],
            swiftSettings: roomSettings),
        .executableTarget(
            name: "trellis",
            dependencies: [
                "PageStore", "RecordStore", "Query",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: roomSettings),

        // Proofs.
        .target(
            name: "TestSupport", dependencies: ["PageStore"], path: "Tests/TestSupport",
            swiftSettings: testSettings),
        // What proves the store: crashes, faults, damage, models. Tests run slices of it, and
        // `scripts/prove` as much as one likes.
        .target(
            name: "Proof", dependencies: ["PageStore", "TestSupport"], path: "Tests/Proof",
            swiftSettings: testSettings),
        .executableTarget(
            name: "Prove", dependencies: ["Proof"], path: "Tests/Prove",
            swiftSettings: testSettings),
        .testTarget(
            name: "PageStoreTests", dependencies: ["PageStore", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "RecordStoreTests", dependencies: ["RecordStore", "PageStore", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "QueryTests", dependencies: ["Query", "RecordStore", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "ObjectGraphTests",
            dependencies: ["ObjectGraph", "KillChild", "PageStore", "RecordStore", "TestSupport"],
            swiftSettings: testSettings),
        // What the API's guide shows, written down as programs write it.
        .testTarget(
            name: "GuideTests", dependencies: ["ObjectGraph"], swiftSettings: testSettings),
        // A process that tests kill.
        .executableTarget(
            name: "KillChild", dependencies: ["ObjectGraph", "PageStore"], path: "Tests/KillChild",
            swiftSettings: testSettings),
        .testTarget(
            name: "TrellisTests",
            dependencies: ["trellis", "KillChild", "RecordStore", "PageStore", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "CrashTests", dependencies: ["PageStore", "Proof", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "SpecTests", dependencies: ["PageStore", "RecordStore", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(name: "TidyTests", swiftSettings: testSettings),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "PageStore", "RecordStore", "Query", "ObjectGraph", "Proof", "TestSupport",
            ],
            path: "FuzzTests", swiftSettings: testSettings),
    ],
    cLanguageStandard: .c11
)

// It needs the fuzzer's library, so that only `scripts/fuzz` builds it.
if Context.environment["TRELLIS_FUZZER"] != nil {
    package.targets.append(
        .executableTarget(
            name: "EngineFuzzer", dependencies: ["Proof"], path: "Tests/EngineFuzzer",
            exclude: ["Corpus"], swiftSettings: testSettings))
}
