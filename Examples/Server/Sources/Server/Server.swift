import Foundation
import Hummingbird
import Logging

extension PersonReply: ResponseEncodable {}

/// The command: `Server trellis|grdb FOLDER PORT`.
@main
enum Server {
    private struct Usage: Error, CustomStringConvertible {
        var description: String { "usage: Server trellis|grdb FOLDER PORT" }
    }

    static func main() async {
        do {
            let arguments = CommandLine.arguments
            guard arguments.count == 4, let port = UInt16(arguments[3]) else { throw Usage() }
            var logger = Logger(label: "server")
            logger.logLevel = .warning
            switch arguments[1] {
            case "trellis":
                try await serve(TrellisStore(folder: arguments[2], logger), Int(port), logger)
            case "grdb": try await serve(GRDBStore(folder: arguments[2]), Int(port), logger)
            default: throw Usage()
            }
        } catch {
            FileHandle.standardError.write(Data("Server: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func serve(
        _ store: some PeopleStore, _ port: Int, _ logger: Logger
    ) async throws {
        try await People.fill(store)
        let application = Application(
            router: router(store),
            configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
        try await application.runService()
        // Without this a commit that is lost at the end is in the log alone.
        try store.close()
    }

    private static func router(_ store: some PeopleStore) -> Router<BasicRequestContext> {
        let router = Router()
        router.get("/people/:number") { _, context in
            let number = try context.parameters.require("number", as: Int.self)
            guard let person = try await store.person(number) else { throw HTTPError(.notFound) }
            return person
        }
        router.get("/cities/:city") { _, context in
            try await store.youngest(in: try context.parameters.require("city"))
        }
        router.post("/people/:number/pay/:amount") { _, context -> HTTPResponse.Status in
            let number = try context.parameters.require("number", as: Int.self)
            let amount = try context.parameters.require("amount", as: Double.self)
            // NaN is in no range.
            guard People.payments.contains(amount) else { throw HTTPError(.badRequest) }
            return try await store.pay(amount, to: number) ? .noContent : .notFound
        }
        return router
    }
}
