import Foundation

/// `Bench [--persons N] [--rounds R] [--contenders a,b] [--batch N] [--directory D]`:
/// the same work on every contender, each in a process of its own, who starts rotates; results
/// are compared before times are, ratios are taken within a round.
@main
struct Bench {
    static func main() throws {
        let options = try Options(arguments: Array(CommandLine.arguments.dropFirst()))
        if let name = options.child {
            guard let contender = contenders().first(where: { $0.name == name }) else {
                throw Options.Failure(message: "no contender is named \(name)")
            }
            let round = Round(
                contender: contender, directory: options.directory,
                personCount: options.persons, personsPerTransaction: options.batch,
                lookupCount: min(options.persons, 100_000))
            let measurements = try round.run()
            FileHandle.standardOutput.write(try JSONEncoder().encode(measurements))
            return
        }
        try Tournament(options: options).run()
    }
}

struct Options {
    struct Failure: Error { var message: String }

    var persons = 1_000_000
    var rounds = 5
    var batch = 100_000
    var names = contenders().map { $0.name }
    var directory = FileManager.default.temporaryDirectory.path
    var child: String?

    init(arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else {
                throw Failure(message: "\(flag) needs a value")
            }
            switch flag {
            case "--persons": persons = Int(value) ?? persons
            case "--rounds": rounds = Int(value) ?? rounds
            case "--batch": batch = Int(value) ?? batch
            case "--contenders": names = value.split(separator: ",").map(String.init)
            case "--directory": directory = value
            case "--child": child = value
            default: throw Failure(message: "unknown option \(flag)")
            }
        }
    }
}
