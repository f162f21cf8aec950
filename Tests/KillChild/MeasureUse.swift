import ObjectGraph

/// Runs a program and tells how it ended, how long it took and how much memory it had at most.
///
/// A process of its own for that: what the system tells of a child includes what its parent had
/// when it was started.
struct MeasureUse {
    /// The file for the program's output.
    let output: String
    /// The program's path and its arguments.
    let command: [String]

    /// An unbounded program must take neither the machine's memory nor its time.
    private static let addressBytesMax: UInt = 8 << 30
    private static let secondsMax: UInt = 100

    /// Prints the exit code, or the signal as a negative number; milliseconds; KiB. The time is the
    /// processor's: tests that run beside this one do not lengthen it.
    func run() {
        var memory = rlimit(rlim_cur: Self.addressBytesMax, rlim_max: Self.addressBytesMax)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &memory)
        var time = rlimit(rlim_cur: Self.secondsMax, rlim_max: Self.secondsMax)
        setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &time)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, output + ".errors", flags, 0o600)
        var processID: pid_t = 0
        let arguments = command.map { strdup($0) } + [nil]
        guard posix_spawn(&processID, command[0], &actions, nil, arguments, [nil]) == 0 else {
            exit(2)
        }
        var status: Int32 = 0
        var usage = rusage()
        guard wait4(processID, &status, 0, &usage) == processID else { exit(2) }
        let milliseconds = [usage.ru_utime, usage.ru_stime].reduce(0) { sum, time in
            sum + Int(time.tv_sec) * 1000 + Int(time.tv_usec) / 1000
        }
        let signal = status & 0x7F
        let outcome = signal == 0 ? status >> 8 & 0xFF : -signal
        print("\(outcome) \(milliseconds) \(usage.ru_maxrss)")
    }
}
