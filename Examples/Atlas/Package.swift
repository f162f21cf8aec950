// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Atlas",
    dependencies: [.package(name: "Trellis", path: "../..")],
    targets: [
        .executableTarget(
            name: "Atlas", dependencies: [.product(name: "Trellis", package: "Trellis")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
