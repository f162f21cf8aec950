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

/// A release build optimises what the suites test, and not the suites: that would take longer than
/// they run.
let suiteSettings: [SwiftSetting] =
    testSettings + [
        .unsafeFlags(
            ["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"],
            .when(configuration: .release))
    ]

let package = Package(
    name: "Trellis",
    // Where the language's own types that the rooms use exist; these systems are untried.
    platforms: [
        .macOS("26.0"), .iOS("26.0"), .tvOS("26.0"), .watchOS("26.0"), .visionOS("26.0"),
    ],
    products: [
        .library(name: "Trellis", targets: ["ObjectGraph"]),
        // The only product that links FoundationXML.
        .library(name: "XcodeModels", targets: ["XcodeModels"]),
        // The only product that builds swift-log.
        .library(name: "TrellisLogging", targets: ["TrellisLogging"]),
        .executable(name: "trellis", targets: ["trellis"]),
    ],
    traits: [
        .trait(
            name: "OpenCombine",
            description: "`reactive` publishers over OpenCombine, where there is no Combine")
    ],
    dependencies: [
        // Calls of the system by their own names on every platform.
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        // Only the command-line tool uses it; a program that links the library never builds it.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        // Only the product TrellisLogging uses it.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        // Built for a program that asks for the trait alone.
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        // The system's libraries: Debian's liblz4-dev and libxxhash-dev.
        .systemLibrary(
            name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .systemLibrary(
            name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        // What Swift and swift-system have no words for.
        .target(name: "CTrellis"),

        // Maps, tables and locks that any room may use.
        .target(name: "Primitives", swiftSettings: roomSettings),

        // The rooms, in the order of the flow.
        .target(
            name: "PageStore",
            dependencies: [
                "CLZ4", "CTrellis", "CXXHash", "Primitives",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: roomSettings),
        .target(
            name: "RecordStore", dependencies: ["PageStore", "CTrellis", "Primitives"],
            swiftSettings: roomSettings),
        .target(
            name: "Query", dependencies: ["RecordStore", "Primitives"],
            swiftSettings: roomSettings),
        .target(
            name: "ObjectGraph",
            dependencies: [
                "Query", "RecordStore", "CTrellis", "Primitives",
                .product(
                    name: "OpenCombine", package: "OpenCombine",
                    condition: .when(traits: ["OpenCombine"])),
            ],
            swiftSettings: roomSettings),
        // Beside the rooms: Xcode's model files as versions of a model.
        .target(
            name: "XcodeModels", dependencies: ["ObjectGraph", "RecordStore"],
            swiftSettings: roomSettings),
        // Beside the rooms: the library's messages in swift-log.
        .target(
            name: "TrellisLogging",
            dependencies: ["ObjectGraph", .product(name: "Logging", package: "swift-log")],
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
            name: "TestSupport", dependencies: ["PageStore", "Primitives"],
            path: "Tests/TestSupport",
            swiftSettings: testSettings),
        // How tests declare schemas. TestSupport knows nothing of records, for ProveEngine's sake.
        .target(
            name: "SampleSchemas", dependencies: ["PageStore", "RecordStore"],
            path: "Tests/SampleSchemas",
            swiftSettings: testSettings),
        // What proves the store: crashes, faults, damage, models. Tests run slices of it, and
        // `scripts/prove` as much as one likes.
        .target(
            name: "Proof", dependencies: ["PageStore", "Primitives", "TestSupport"],
            path: "Tests/Proof",
            swiftSettings: testSettings),
        // The same for objects.
        .target(
            name: "ObjectProof",
            dependencies: [
                "ObjectGraph", "PageStore", "Primitives", "Proof", "RecordStore", "SampleSchemas",
                "TestSupport",
            ],
            path: "Tests/ObjectProof", swiftSettings: testSettings),
        // For files that follow a model that changes.
        .target(
            name: "MigrationProof",
            dependencies: [
                "ObjectGraph", "PageStore", "Primitives", "Proof", "RecordStore", "SampleSchemas",
                "TestSupport",
            ],
            path: "Tests/MigrationProof", swiftSettings: testSettings),
        // And for what a program asks of the system: its calls are recorded, cut off and made to fail.
        .target(
            name: "DiskProof",
            dependencies: [
                "ObjectGraph", "PageStore", "Primitives", "Proof", "RecordStore", "TestSupport",
            ],
            path: "Tests/DiskProof", swiftSettings: testSettings),
        // What the fuzzer and the tests of its corpus try.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "ObjectGraph", "ObjectProof", "PageStore", "Proof", "RecordStore", "TestSupport",
            ],
            path: "Tests/FuzzTargets", swiftSettings: testSettings),
        // The program whose calls those are.
        .executableTarget(
            name: "DiskProgram", dependencies: ["DiskProof", "TestSupport"],
            path: "Tests/DiskProgram",
            swiftSettings: testSettings),
        .executableTarget(
            name: "Prove", dependencies: ["Proof", "ObjectProof", "DiskProof", "MigrationProof"],
            path: "Tests/Prove", swiftSettings: testSettings),
        .executableTarget(
            name: "ProveEngine", dependencies: ["Proof"], path: "Tests/ProveEngine",
            swiftSettings: testSettings),
        .testTarget(
            name: "PrimitivesTests", dependencies: ["Primitives", "TestSupport"],
            swiftSettings: suiteSettings),
        .testTarget(
            name: "PageStoreTests", dependencies: ["PageStore", "Primitives", "TestSupport"],
            swiftSettings: suiteSettings),
        .testTarget(
            name: "RecordStoreTests",
            dependencies: [
                "RecordStore", "MigrationProof", "PageStore", "Primitives", "Proof",
                "SampleSchemas", "TestSupport",
            ],
            swiftSettings: suiteSettings),
        .testTarget(
            name: "QueryTests",
            dependencies: ["Query", "RecordStore", "SampleSchemas", "TestSupport"],
            swiftSettings: suiteSettings),
        .testTarget(
            name: "ObjectGraphTests",
            dependencies: [
                "ObjectGraph", "KillChild", "ObjectProof", "PageStore", "Primitives", "Proof",
                "RecordStore", "SampleSchemas", "TestSupport",
            ],
            swiftSettings: suiteSettings),
        // What the API's guide shows, written down as programs write it.
        .testTarget(
            name: "GuideTests", dependencies: ["ObjectGraph"], swiftSettings: suiteSettings),
        .testTarget(
            name: "XcodeModelsTests",
            dependencies: ["XcodeModels", "ObjectGraph", "RecordStore", "TestSupport"],
            resources: [.copy("Models")], swiftSettings: suiteSettings),
        .testTarget(
            name: "TrellisLoggingTests",
            dependencies: [
                "TrellisLogging", "ObjectGraph", "Primitives",
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: suiteSettings),
        // A process that tests kill.
        .executableTarget(
            name: "KillChild", dependencies: ["ObjectGraph", "PageStore", "TestSupport"],
            path: "Tests/KillChild", swiftSettings: testSettings),
        .testTarget(
            name: "TrellisTests",
            dependencies: [
                "trellis", "KillChild", "ObjectGraph", "RecordStore", "PageStore", "SampleSchemas",
                "TestSupport",
            ],
            swiftSettings: suiteSettings),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "DiskProgram", "DiskProof", "MigrationProof", "PageStore", "Primitives", "Proof",
                "RecordStore", "SampleSchemas", "TestSupport",
            ],
            swiftSettings: suiteSettings),
        .testTarget(
            name: "SpecTests",
            dependencies: ["PageStore", "RecordStore", "SampleSchemas", "TestSupport"],
            swiftSettings: suiteSettings),
        .testTarget(name: "TidyTests", swiftSettings: suiteSettings),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "FuzzTargets", "PageStore", "RecordStore", "Query", "ObjectGraph", "Proof",
                "SampleSchemas",
                "TestSupport",
            ],
            path: "FuzzTests", swiftSettings: suiteSettings),
    ],
    cLanguageStandard: .c11
)

// `scripts/test` builds some of the suites alone for ThreadSanitizer, and for release …
if let suites = Context.environment["TRELLIS_SUITES"]?.split(whereSeparator: \.isWhitespace) {
    package.targets.removeAll { $0.type == .test && !suites.contains($0.name[...]) }
}

// … and some of these without all of their folders: `Suite/Folder`.
for path in Context.environment["TRELLIS_LEFT_OUT"]?.split(whereSeparator: \.isWhitespace) ?? [] {
    let parts = path.split(separator: "/").map(String.init)
    package.targets.first { $0.name == parts.first }?.exclude.append(parts.last ?? "")
}

// It needs the fuzzer's library, so that only `scripts/fuzz` builds it.
if Context.environment["TRELLIS_FUZZER"] != nil {
    package.targets.append(
        .executableTarget(
            name: "EngineFuzzer", dependencies: ["FuzzTargets", "ObjectProof"],
            path: "Tests/EngineFuzzer", exclude: ["Corpus"], swiftSettings: testSettings))
}

// `TRELLIS_DOCS=1 swift package generate-documentation --target ObjectGraph` needs it, and no
// program that uses the library.
if Context.environment["TRELLIS_DOCS"] != nil {
    package.dependencies.append(
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0"))
}
