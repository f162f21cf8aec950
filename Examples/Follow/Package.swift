// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Follow",
    dependencies: [.package(name: "Trellis", path: "../..")],
    targets: [
        .executableTarget(
            name: "Follow", dependencies: [.product(name: "Trellis", package: "Trellis")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
