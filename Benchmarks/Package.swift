// swift-tools-version: 6.2
import PackageDescription

/// A package of its own, so that a program that uses Trellis never resolves what only the
/// benchmarks need.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "Trellis", path: "..")],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "Bench",
            dependencies: ["CSQLite", .product(name: "Trellis", package: "Trellis")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
