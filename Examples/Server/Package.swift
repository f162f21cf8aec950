// swift-tools-version: 6.2
import PackageDescription

/// A package of its own: only who builds it resolves the web framework.
let package = Package(
    name: "Server",
    platforms: [.macOS("26.0")],
    dependencies: [
        .package(name: "Trellis", path: "../.."),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1",
            traits: []),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "Server",
            dependencies: [
                .product(name: "Trellis", package: "Trellis"),
                .product(name: "TrellisLogging", package: "Trellis"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
