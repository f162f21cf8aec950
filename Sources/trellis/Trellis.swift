import ArgumentParser
import PageStore

@main
struct Trellis: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Looks into Trellis stores, and takes care of them.",
        discussion: """
            A damaged file is shown as far as it can be read; what cannot is named. Only vacuum \
            and migrate write into the store's own file, and they fail when a program has it \
            open for writing. The others show such a store as its last commit left it.

            Exit codes: 0, 1 when check finds anything or a part cannot be read, 64 for a \
            command that cannot be understood, 74 when the output could not be written. Those of \
            schema --diff and migrate are told in their help.
            """,
        subcommands: [
            SummaryCommand.self, CheckCommand.self, SchemaCommand.self, PagesCommand.self,
            PageCommand.self, TreeCommand.self, DumpCommand.self, LogCommand.self,
            BackupCommand.self, MigrateCommand.self, VacuumCommand.self, SalvageCommand.self,
            StatsCommand.self,
        ])

    /// Fails also where the output went to a full disk: `print` does not tell.
    static func main() {
        // Leaves the process where the command fails.
        main(nil)
        guard StandardOutput.isWritten() else {
            Console.warn(StoreError(.io, "the output could not be written"))
            exit(withError: ExitCode(74))
        }
    }
}
