extension StoreParts {
    /// The counters of each part, not all read at one moment.
    var statistics: StoreStatistics {
        var figures = StoreStatistics()
        figures.bytesRead = context.file.bytesRead
        figures.bytesWritten = context.file.bytesWritten
        figures.fileSizeInBytes = (try? context.file.size()) ?? 0
        figures.logBytes = log.byteCount
        let previous = pager.count(into: &figures)
        space.withSpace { space in
            figures.freeBytes = context.geometry.bytes(ofUnits: space.freeUnits)
            for pending in space.pending {
                let bytes = context.geometry.bytes(ofUnits: pending.unitCount)
                figures.pendingBytes += bytes
                // The superblocks do not need it any more: a reader does.
                if pending.died <= previous { figures.heldBytes += bytes }
            }
        }
        return figures
    }
}

extension Pager {
    /// Returns the generation in the other superblock.
    fileprivate func count(into figures: inout StoreStatistics) -> UInt64 {
        let now = ContinuousClock.now
        return state.withLock { state in
            let published = state.published
            figures.pagesRead = state.pagesRead
            figures.pageLookups = state.cache.lookupCount
            figures.commits = published.commits
            figures.checkpoints = published.checkpoints
            figures.generation = published.generation.number
            figures.commitNumber = published.commitNumber
            figures.cacheBytes = UInt64(state.cache.sizeInBytes)
            figures.changedBytes = UInt64(published.generation.imageBytes + state.dirtyBytes)
            if let oldest = state.readers.oldest {
                figures.oldestReaderGeneration = oldest.generation
                figures.oldestReaderAge = now - oldest.since
            }
            return published.previousGeneration
        }
    }
}
