// swift-tools-version: 6.2
import PackageDescription

/// A package of its own, so that a program that uses Trellis never resolves what only the
/// benchmarks need.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "Trellis", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        .target(name: "CProcess"),
        .executableTarget(
            name: "Bench",
            dependencies: [
                "CSQLite", "CLMDB", "CProcess",
                .product(name: "Trellis", package: "Trellis"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
