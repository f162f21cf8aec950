import ObjectGraph

/// Opens stores that it may not read, may not write, and may not create, and prints the errors. The
/// superuser is denied nothing, so it first becomes another user.
struct DeniedUse {
    let folder: String

    func run() {
        if getuid() == 0 {
            guard setgid(65_534) == 0, setuid(65_534) == 0 else { exit(6) }
        }
        for name in ["secret", "fixed", "new", "deep/er/new"] {
            let url = URL(fileURLWithPath: folder).appendingPathComponent(name)
            let schema = CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<KillChild.Entry>("Entry")])
            do throws(CoreStoreError) {
                try DataStack(schema).addStorageAndWait(LocalStore(fileURL: url))
                KillChild.say("\(name) opened")
            } catch {
                let cause = error.storeError
                let isNamed = cause?.path?.hasPrefix(folder) == true
                KillChild.say("\(name) \(cause?.code.rawValue ?? "\(error)") \(isNamed)")
            }
        }
    }
}
