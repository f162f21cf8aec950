import ArgumentParser

@main
struct Trellis: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Looks into Trellis stores without changing them.")
}
