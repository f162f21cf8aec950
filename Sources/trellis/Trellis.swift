import ArgumentParser

@main
struct Trellis: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Looks into Trellis stores, and takes care of them.",
        discussion: """
            A damaged file is shown as far as it can be read; what cannot is named. Only vacuum \
            and migrate write into the store's own file, and they fail when a program has it \
            open for writing. The others show such a store as its last commit left it.

            Exit codes: 0, 1 when check finds anything or a part cannot be read, 64 for a \
            command that cannot be understood. Those of schema --diff and migrate are told in \
            their help.
            """,
        subcommands: [
            SummaryCommand.self, CheckCommand.self, SchemaCommand.self, PagesCommand.self,
            PageCommand.self, TreeCommand.self, DumpCommand.self, LogCommand.self,
            BackupCommand.self, MigrateCommand.self, VacuumCommand.self, SalvageCommand.self,
            StatsCommand.self,
        ])
}
