import Foundation

/// The clocks of this process, which can stand while work is done that does not count.
final class Stopwatch {
    private var wallSum = 0.0
    private var cpuSum = 0.0
    private var wallStart = 0.0
    private var cpuStart = 0.0
    private var isRunning = false

    func resume() {
        guard !isRunning else { return }
        isRunning = true
        cpuStart = Self.seconds(CLOCK_PROCESS_CPUTIME_ID)
        wallStart = Self.seconds(CLOCK_MONOTONIC)
    }

    func pause() {
        guard isRunning else { return }
        isRunning = false
        wallSum += Self.seconds(CLOCK_MONOTONIC) - wallStart
        cpuSum += Self.seconds(CLOCK_PROCESS_CPUTIME_ID) - cpuStart
    }

    /// Does what does not count while the clocks stand.
    func standing(_ body: () -> Void) {
        let wasRunning = isRunning
        pause()
        defer { if wasRunning { resume() } }
        Callgrind.uncounted(body)
    }

    var wall: Double { wallSum }
    var cpu: Double { cpuSum }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
