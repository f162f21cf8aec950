import ArgumentParser

@main
struct Trellis: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Looks into Trellis stores, and takes care of them.",
        discussion: """
            A damaged file is shown as far as it can be read; what cannot is named. Nothing but \
            vacuum writes into a store, and waits for nobody. The others show a store that a \
            program has open for writing as its last commit left it.

            Exit codes: 0, 1 when check finds anything or the file cannot be read, 64 for a \
            command that cannot be understood.
            """,
        subcommands: [
            SummaryCommand.self, CheckCommand.self, SchemaCommand.self, PagesCommand.self,
            PageCommand.self, TreeCommand.self, DumpCommand.self, LogCommand.self,
            BackupCommand.self, VacuumCommand.self, SalvageCommand.self, StatsCommand.self,
        ])
}
