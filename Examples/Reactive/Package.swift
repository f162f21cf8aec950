// swift-tools-version: 6.2
import PackageDescription

/// A program that asks for Trellis's OpenCombine trait, and what the guide shows of Combine.
let package = Package(
    name: "Reactive",
    dependencies: [
        .package(name: "Trellis", path: "../..", traits: ["OpenCombine"]),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .testTarget(
            name: "ReactiveTests",
            dependencies: [
                .product(name: "Trellis", package: "Trellis"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
